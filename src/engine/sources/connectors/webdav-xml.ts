import { readMarkup } from '../../compile/parse/markup-events.js'

/** A resource in an answer to PROPFIND. */
export interface DavEntry {
  href: string
  isFolder: boolean
  size?: number
}

/** As many as a folder is listed with. */
const MAX_ENTRIES = 100_000

/** Reads a `multistatus` (RFC 4918, 14.16); what is not one holds nothing. Names count without their prefix. */
export function parseMultistatus(xml: string): DavEntry[] {
  const entries: DavEntry[] = []
  const fresh = () => ({ href: '', isFolder: false, size: '' })
  let entry = fresh()
  let text: string | undefined
  readMarkup(
    xml,
    {
      open(name) {
        const local = localName(name)
        if (local === 'response') entry = fresh()
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
    true,
  )
  return entries
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}
