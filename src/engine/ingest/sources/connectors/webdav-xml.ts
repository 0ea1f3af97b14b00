import { readMarkup } from '../../../readers/index.js'

/** A resource in a PROPFIND response. */
export interface DavEntry {
  href: string
  isFolder: boolean
  size?: number
}

/** Maximum number of entries that are listed in a folder. */
const MAX_ENTRIES = 100_000

export interface DavFolder {
  /** URL of the source */
  base: string
  /** URL of the folder */
  asked: string
  /** its path below the source */
  folder: string
  /** required start of ids */
  prefix: string
  most: number
}

interface DavListItem {
  id: string
  name: string
  type: string
  size?: number
}

/** Lists the direct entries of a folder from a PROPFIND response; ids of folders end in a slash. */
export function listDavFolder(xml: string, { base, asked, folder, prefix, most }: DavFolder): DavListItem[] {
  const [root, url] = [new URL(base), new URL(asked)]
  return parseMultistatus(xml)
    .flatMap(({ href, isFolder, size }): DavListItem[] => {
      const id = toItemId(root, url, href)
      if (id === undefined || id === folder || !id.startsWith(prefix)) return []
      const name = id.slice(folder.length).replace(/\/$/, '')
      if (name === '' || name.includes('/')) return []
      const about = isFolder || size === undefined ? {} : { size }
      return [{ id: isFolder ? `${folder}${name}/` : id, name, type: isFolder ? 'folder' : 'file', ...about }]
    })
    .sort((one, other) => (one.id < other.id ? -1 : 1))
    .slice(0, most)
}

/** The path below the source's folder for a server's `href`; undefined for one outside of it. */
function toItemId(base: URL, asked: URL, href: string): string | undefined {
  if (!URL.canParse(href, asked.href)) return undefined
  const url = new URL(href, asked)
  if (url.origin !== base.origin || !url.pathname.startsWith(base.pathname)) return undefined
  try {
    return decodeURIComponent(url.pathname.slice(base.pathname.length))
  } catch {
    return undefined
  }
}

/** Parses a `multistatus` (RFC 4918, 14.16); any other document is empty. Ignores the prefixes of names. */
export function parseMultistatus(xml: string): DavEntry[] {
  const entries: DavEntry[] = []
  const createEntry = () => ({ href: '', isFolder: false, size: '' })
  let entry = createEntry()
  let text: string | undefined
  readMarkup(
    xml,
    {
      open(name) {
        const local = localName(name)
        if (local === 'response') entry = createEntry()
        if (local === 'collection') entry.isFolder = true
        text = local === 'href' || local === 'getcontentlength' ? '' : undefined
      },
      text(part) {
        if (text !== undefined) text += part
      },
      close(name) {
        const local = localName(name)
        if (local === 'href' && entry.href === '') entry.href = text?.trim() ?? ''
        if (local === 'getcontentlength') entry.size = text?.trim() ?? ''
        text = undefined
        if (local !== 'response' || entry.href === '' || entries.length >= MAX_ENTRIES) return
        const { href, isFolder, size } = entry
        entries.push({ href, isFolder, ...(/^\d{1,15}$/.test(size) ? { size: Number(size) } : {}) })
      },
    },
    'xml',
  )
  return entries
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}
