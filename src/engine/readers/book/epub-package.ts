import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { ZipArchive } from '../archive/zip.js'
import { ReadError } from '../limits.js'
import { type Attributes, getLocalName, type MarkupHandler, readMarkup, visitTags } from '../markup/markup-events.js'
import { readXmlText, resolvePart, toMeaningfulTitle } from '../office/office-package.js'

/** The package document of an e-book (EPUB 3.3, 5; OPF 2.0.1). */
export interface EpubPackage {
  title?: string
  author?: string
  language?: string
  published?: string
  /** parts of the book in reading order, each once, without pages that only list the contents */
  chapters: string[]
  /** titles of parts from the book's table of contents */
  labels: ReadonlyMap<string, string>
}

interface ManifestItem {
  part: string
  type: string
  properties: string
}

const CONTAINER = 'META-INF/container.xml'
const ENCRYPTION = 'META-INF/encryption.xml'
const CHAPTER_TYPES = new Set([
  'application/xhtml+xml',
  'text/html',
  'application/x-dtbook+xml',
  'text/x-oeb1-document',
])
const MAX_LABEL = 300

/**
 * Reads the package document of an e-book and its table of contents.
 *
 * @throws ReadError `malformed` without one, `encrypted` where chapters are encrypted
 */
export function readEpubPackage(zip: ZipArchive, filename: string): EpubPackage {
  const opf = findPackagePart(zip, filename)
  const findPart = createPartFinder(zip)
  const items = new Map<string, ManifestItem>()
  const spine = new Set<string>()
  const tocHrefs = new Set<string>()
  const texts = new Map<string, string>()
  let currentTag = ''
  readMarkup(
    readXmlText(zip, opf),
    {
      open(name, attributes) {
        const tag = getLocalName(name)
        currentTag = name.startsWith('dc:') && !texts.has(tag) ? tag : ''
        if (tag === 'item') addItem(items, (href) => findPart(resolveTarget(opf, href)), attributes)
        else if (tag === 'itemref') spine.add(attributes.get('idref') ?? '')
        else if (tag === 'reference' && attributes.get('type') === 'toc') tocHrefs.add(attributes.get('href') ?? '')
      },
      close() {
        currentTag = ''
      },
      text(text) {
        if (currentTag !== '') texts.set(currentTag, `${texts.get(currentTag) ?? ''}${text}`.slice(0, 1000))
      },
    },
    'xml',
  )
  // A reference with a fragment leads to a chapter that begins with the table of contents.
  const tocParts = new Set(
    [...tocHrefs].filter((href) => !href.includes('#')).map((href) => findPart(resolveTarget(opf, href))),
  )
  const parts = new Set<string>()
  for (const id of spine) {
    const item = items.get(id)
    if (item === undefined || !CHAPTER_TYPES.has(item.type) || /\bnav\b/.test(item.properties)) continue
    if (zip.entries.has(item.part)) parts.add(item.part)
  }
  const withoutToc = [...parts].filter((part) => !tocParts.has(part))
  // Some books name their only chapter as the table of contents.
  const chapters = withoutToc.length === 0 ? parts : new Set(withoutToc)
  checkNotEncrypted(zip, chapters, filename)
  return { ...toBookMetadata(texts), chapters: [...chapters], labels: readLabels(zip, [...items.values()]) }
}

/** Finds parts of an archive by name; many books are written on systems that ignore case. */
function createPartFinder(zip: ZipArchive): (name: string) => string {
  let names: Map<string, string> | undefined
  return (name) => {
    if (zip.entries.has(name)) return name
    names ??= new Map([...zip.entries.keys()].map((entry) => [entry.toLowerCase(), entry]))
    return names.get(name.toLowerCase()) ?? name
  }
}

function findPackagePart(zip: ZipArchive, filename: string): string {
  let part: string | undefined
  if (zip.entries.has(CONTAINER)) {
    visitTags(readXmlText(zip, CONTAINER), (name, attributes) => {
      if (getLocalName(name) === 'rootfile') part ??= attributes.get('full-path')
    })
  }
  part ??= [...zip.entries.keys()].find((name) => name.endsWith('.opf'))
  const found = part === undefined ? undefined : createPartFinder(zip)(part)
  if (found !== undefined && zip.entries.has(found)) return found
  throw new ReadError('malformed', `${filename} is not a readable e-book: it has no package document`)
}

function addItem(items: Map<string, ManifestItem>, locate: (href: string) => string, attributes: Attributes): void {
  const id = attributes.get('id')
  const href = attributes.get('href')
  if (id === undefined || href === undefined) return
  items.set(id, {
    part: locate(href),
    type: attributes.get('media-type') ?? '',
    properties: attributes.get('properties') ?? '',
  })
}

function toBookMetadata(texts: ReadonlyMap<string, string>): Omit<EpubPackage, 'chapters' | 'labels'> {
  const [title, author, language, published] = ['title', 'creator', 'language', 'date'].map((name) =>
    texts.get(name)?.replace(/\s+/g, ' ').trim(),
  )
  const cleanTitle = toMeaningfulTitle(title)
  return {
    ...omitUndefined({ title: cleanTitle, published }),
    ...(author === undefined || author === '' ? {} : { author }),
    ...(language !== undefined && /^[a-z]{2,3}(?:-[\w-]{1,20})?$/i.test(language) ? { language } : {}),
  }
}

/** Many books only scramble their fonts; encrypted chapters mean copy protection. */
function checkNotEncrypted(zip: ZipArchive, chapters: ReadonlySet<string>, filename: string): void {
  if (!zip.entries.has(ENCRYPTION)) return
  visitTags(readXmlText(zip, ENCRYPTION), (name, attributes) => {
    if (getLocalName(name) !== 'CipherReference' || !chapters.has(resolveTarget('', attributes.get('URI') ?? '')))
      return
    throw new ReadError('encrypted', `${filename} is protected against copying`)
  })
}

/** Titles of parts from the navigation document (EPUB 3) or the NCX (EPUB 2). */
function readLabels(zip: ZipArchive, items: ManifestItem[]): Map<string, string> {
  const labels = new Map<string, string>()
  const item =
    items.find(({ properties }) => /\bnav\b/.test(properties)) ??
    items.find(({ type }) => type === 'application/x-dtbncx+xml')
  if (item === undefined || !zip.entries.has(item.part)) return labels
  const reader = new LabelReader(item.part, labels)
  readMarkup(readXmlText(zip, item.part), reader, 'xml')
  return labels
}

class LabelReader implements MarkupHandler {
  readonly #from: string
  readonly #labels: Map<string, string>
  #part: string | undefined
  #text: string | undefined

  constructor(basePart: string, labels: Map<string, string>) {
    this.#from = basePart
    this.#labels = labels
  }

  open(name: string, attributes: Attributes): void {
    const tag = getLocalName(name)
    if (tag === 'a') this.#begin(attributes.get('href'))
    else if (tag === 'navLabel') this.#text = ''
    else if (tag === 'content') {
      this.#begin(attributes.get('src'), this.#text)
      this.#end()
    }
  }

  close(name: string): void {
    if (getLocalName(name) === 'a') this.#end()
  }

  text(text: string): void {
    if (this.#text !== undefined) this.#text = `${this.#text}${text}`.slice(0, MAX_LABEL)
  }

  #begin(href: string | undefined, text = ''): void {
    this.#part = href === undefined || href.includes('#') ? undefined : resolveTarget(this.#from, href)
    this.#text = text
  }

  #end(): void {
    const text = this.#text?.replace(/\s+/g, ' ').trim() ?? ''
    if (this.#part !== undefined && text !== '' && !this.#labels.has(this.#part)) this.#labels.set(this.#part, text)
    this.#part = undefined
    this.#text = undefined
  }
}

/** The part that a reference in another part names, without its fragment. */
export function resolveTarget(basePart: string, href: string): string {
  const path = href.replace(/[#?].*$/s, '')
  try {
    return resolvePart(basePart, decodeURIComponent(path))
  } catch {
    return resolvePart(basePart, path)
  }
}
