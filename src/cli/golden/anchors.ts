import type { Client } from '../../client/client.js'
import { paginate } from '../../client/pages.js'
import type { OutlineNode } from '../../contract/gateway/document-parts.js'
import type { CatResult } from '../../contract/gateway/fs.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import type { EvidenceAnchor } from './expectation.js'
import { findQuoteRanges, type LetterText, type OffsetRange, overlaps, toLetterText } from './text-location.js'

/** The current location of an anchor: a document and ranges of its text; without ranges, the entire document. */
export interface AnchorLocation {
  documentId: string
  ranges?: OffsetRange[]
}

export type AnchorResolution = { label: AnchorLocation } | { unresolved: string }

const PAGE_SIZE = 100

interface PublishedDocument {
  id: string
  filename: string
}

/** Locates anchors in the published documents. Loaded outlines and texts are cached. */
export class AnchorResolver {
  readonly #client: Client
  readonly #spaceId: string
  #documents: Promise<PublishedDocument[]> | undefined
  readonly #outlines = new Map<string, Promise<OutlineNode[]>>()
  readonly #texts = new Map<string, Promise<LetterText | undefined>>()

  constructor(client: Client, spaceId: string) {
    this.#client = client
    this.#spaceId = spaceId
  }

  /** The location of the anchor, or why it was not found. */
  async resolve(anchor: EvidenceAnchor): Promise<AnchorResolution> {
    const documents = await this.#findDocuments(anchor.document)
    const [document, second] = documents
    if (document === undefined) return { unresolved: `no document has the path ${JSON.stringify(anchor.document)}` }
    if (second !== undefined)
      return { unresolved: `${documents.length} documents have a path that ends in ${anchor.document}` }
    const sections = anchor.heading.length === 0 ? undefined : await this.#findSections(document.id, anchor.heading)
    if (sections?.length === 0) {
      return { unresolved: `${document.filename} has no section ${anchor.heading.join(' > ')}` }
    }
    if (anchor.quote === undefined) {
      return { label: { documentId: document.id, ...omitUndefined({ ranges: sections }) } }
    }
    const text = await this.#loadText(document)
    if (text === undefined) return { unresolved: `the text of ${document.filename} cannot be read` }
    const ranges = findQuoteRanges(anchor.quote, text)
    if (ranges.length === 0) return { unresolved: `${document.filename} does not contain the quote` }
    const matching =
      sections === undefined ? ranges : ranges.filter((range) => sections.some((section) => overlaps(range, section)))
    if (matching.length === 0) return { unresolved: `the quote is not under ${anchor.heading.join(' > ')}` }
    return { label: { documentId: document.id, ranges: matching } }
  }

  /** The documents with this path: the newest with exactly this name, else all whose paths end in it. */
  async #findDocuments(path: string): Promise<PublishedDocument[]> {
    this.#documents ??= this.#listDocuments()
    const all = await this.#documents
    const exact = all.filter(({ filename }) => filename === path)
    if (exact.length > 0) return exact.slice(-1)
    return all.filter(({ filename }) => filename.endsWith(`/${path}`))
  }

  async #listDocuments(): Promise<PublishedDocument[]> {
    const documents: PublishedDocument[] = []
    const pages = paginate(
      (query) => this.#client.request('GET /knowledge-spaces/{id}/documents', { path: { id: this.#spaceId }, query }),
      { pageSize: PAGE_SIZE },
    )
    for await (const { id, filename } of pages) documents.push({ id, filename })
    return documents
  }

  /** Ranges of the sections whose path of titles ends in the heading. */
  async #findSections(documentId: string, heading: readonly string[]): Promise<OffsetRange[]> {
    let outline = this.#outlines.get(documentId)
    if (outline === undefined) {
      outline = this.#client
        .request('GET /knowledge-spaces/{id}/documents/{documentId}/outline', {
          path: { id: this.#spaceId, documentId },
        })
        .then(({ nodes }) => nodes)
      this.#outlines.set(documentId, outline)
    }
    const titles = heading.map(normalizeTitle)
    return flattenNodes(await outline).flatMap(({ sectionPath, startOffset, endOffset }): OffsetRange[] => {
      const lastTitles = sectionPath.slice(-titles.length).map(normalizeTitle)
      const isMatch = lastTitles.length === titles.length && lastTitles.every((title, index) => title === titles[index])
      if (!isMatch || startOffset === undefined || endOffset === undefined) return []
      return [{ start: startOffset, end: endOffset }]
    })
  }

  #loadText(document: PublishedDocument): Promise<LetterText | undefined> {
    let text = this.#texts.get(document.id)
    if (text === undefined) {
      text = this.#readText(document)
      this.#texts.set(document.id, text)
    }
    return text
  }

  async #readText(document: PublishedDocument): Promise<LetterText | undefined> {
    const path = await this.#findPath(document)
    if (path === undefined) return undefined
    let text = ''
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const page: CatResult = await this.#client.request('GET /knowledge-spaces/{id}/fs/cat', {
        path: { id: this.#spaceId },
        query: { path, offset: String(offset) },
      })
      text += page.content
      offset = page.nextOffset
    }
    return toLetterText(text)
  }

  /** The document's path below /sources; its offsets are those of citations. */
  async #findPath({ id, filename }: PublishedDocument): Promise<string | undefined> {
    const nameContains = filename.slice(filename.lastIndexOf('/') + 1).slice(0, PAGE_SIZE)
    const found = paginate(
      ({ limit, cursor }) =>
        this.#client.request('GET /knowledge-spaces/{id}/fs/find', {
          path: { id: this.#spaceId },
          query: {
            path: '/sources',
            limit: String(limit),
            nameContains,
            resourceType: 'document' as const,
            ...omitUndefined({ cursor }),
          },
        }),
      { pageSize: PAGE_SIZE },
    )
    for await (const item of found) if (item.targetId === id) return item.path
    return undefined
  }
}

function flattenNodes(nodes: readonly OutlineNode[]): OutlineNode[] {
  return nodes.flatMap((node) => [node, ...flattenNodes(node.children)])
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
