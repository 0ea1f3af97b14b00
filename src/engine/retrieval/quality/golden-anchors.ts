import { LRUCache } from 'lru-cache'
import type { EvidenceAnchor } from '../../../contract/gateway/golden-runs.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Caller } from '../../base/caller.js'
import { toStoredName, toVirtualName } from '../../base/file-names.js'
import { readStoredSections, readStoredText } from '../../readers/index.js'
import type { CompiledOutlineNode } from '../../store/compiled.js'
import type { Driver } from '../../store/driver.js'
import type { Read } from '../../store/program.js'
import { findPublishedVersion, type VersionRow } from '../../store/rows/document-versions.js'
import type { DocumentRow } from '../../store/rows/documents.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import { loadPackedColumn } from '../../store/rows/version-parts.js'
import { listDocumentsByBaseName } from '../rows/explain.js'
import { findQuoteRanges, type LetterText, type OffsetRange, overlaps, toLetterText } from './text-location.js'

/** The current location of an anchor: a document and ranges of its text; without ranges, the entire document. */
export interface AnchorLocation {
  documentId: string
  ranges?: OffsetRange[]
}

export type AnchorResolution = { label: AnchorLocation } | { unresolved: string }

/** A document that an anchor named, with what was read of it. */
interface OpenDocument {
  version: VersionRow
  sections?: Promise<CompiledOutlineNode[]>
  text?: Promise<LetterText>
}

/** Maximum number of documents whose outlines and texts are cached. */
const MAX_OPEN_DOCUMENTS = 8

/** Locates anchors in the published documents that a caller may read. */
export class AnchorResolver {
  readonly #db: Driver
  readonly #caller: Caller
  readonly #space: SpaceRow
  readonly #open = new LRUCache<number, OpenDocument>({ max: MAX_OPEN_DOCUMENTS })

  constructor(db: Driver, caller: Caller, space: SpaceRow) {
    this.#db = db
    this.#caller = caller
    this.#space = space
  }

  /** The location of the anchor, or why it was not found. */
  async resolve({ document: path, heading, quote }: EvidenceAnchor): Promise<AnchorResolution> {
    const found = await this.#db.read(findDocuments(this.#caller, this.#space, path))
    const [document, second] = found
    if (document === undefined) return { unresolved: `no document has the path ${JSON.stringify(path)}` }
    if (second !== undefined) return { unresolved: `${found.length} documents have a path that ends in ${path}` }
    const { id: documentId, filename } = document
    if (heading.length === 0 && quote === undefined) return { label: { documentId } }
    const version = await this.#db.read(findPublishedVersion(document.key))
    if (version === undefined) return { unresolved: `the text of ${filename} cannot be read` }
    const opened = this.#open.get(version.key) ?? { version }
    this.#open.set(version.key, opened)
    const sections = heading.length === 0 ? undefined : await this.#findSections(opened, heading)
    if (sections?.length === 0) return { unresolved: `${filename} has no section ${heading.join(' > ')}` }
    if (quote === undefined) return { label: { documentId, ...omitUndefined({ ranges: sections }) } }
    opened.text ??= this.#readText(version)
    const ranges = findQuoteRanges(quote, await opened.text)
    if (ranges.length === 0) return { unresolved: `${filename} does not contain the quote` }
    const matching =
      sections === undefined ? ranges : ranges.filter((range) => sections.some((section) => overlaps(range, section)))
    if (matching.length === 0) return { unresolved: `the quote is not under ${heading.join(' > ')}` }
    return { label: { documentId, ranges: matching } }
  }

  /** Ranges of the sections whose path of titles ends in the heading. */
  async #findSections(opened: OpenDocument, heading: readonly string[]): Promise<OffsetRange[]> {
    const { key, outline } = opened.version
    opened.sections ??= this.#db.read(loadPackedColumn(key, 'outline', outline)).then(readStoredSections)
    const titles = heading.map(normalizeTitle)
    return flattenSections(await opened.sections).flatMap(({ sectionPath, startOffset, endOffset }): OffsetRange[] => {
      const lastTitles = sectionPath.slice(-titles.length).map(normalizeTitle)
      const isMatch = lastTitles.length === titles.length && lastTitles.every((title, index) => title === titles[index])
      if (!isMatch || startOffset === undefined || endOffset === undefined) return []
      return [{ start: startOffset, end: endOffset }]
    })
  }

  async #readText({ key, artifact }: VersionRow): Promise<LetterText> {
    const parts: string[] = []
    const packed = await this.#db.read(loadPackedColumn(key, 'artifact', artifact))
    for await (const part of readStoredText(packed)) parts.push(part)
    return toLetterText(parts.join(''))
  }
}

/** The documents with this path: the newest with exactly this name, else all whose paths end in it. */
function* findDocuments(caller: Caller, space: SpaceRow, path: string): Read<DocumentRow[]> {
  const name = toStoredName(path)
  const virtualName = toVirtualName(name)
  const base = virtualName.slice(virtualName.lastIndexOf('/') + 1)
  const all = yield* listDocumentsByBaseName(caller, space.key, base)
  const exact = all.filter(({ filename }) => filename === name)
  return exact.length > 0 ? exact.slice(0, 1) : all.filter(({ filename }) => filename.endsWith(`/${name}`))
}

function flattenSections(sections: readonly CompiledOutlineNode[]): CompiledOutlineNode[] {
  return sections.flatMap((section) => [section, ...flattenSections(section.children)])
}

/** Normalizes a title: case, spaces, numbering and punctuation are ignored. */
function normalizeTitle(title: string): string {
  const words =
    title
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  const withoutNumbers = words.filter(
    (word, index) => !/^\d+$/.test(word) || words.slice(0, index).some((w) => !/^\d+$/.test(w)),
  )
  return (withoutNumbers.length === 0 ? words : withoutNumbers).join(' ')
}
