import type { Client } from '../../client/client.js'
import { paginate } from '../../client/pages.js'
import type { OutlineNode } from '../../contract/gateway/document-parts.js'
import type { CatResult } from '../../contract/gateway/fs.js'
import { defined } from '../../lib/defined.js'
import type { Anchor } from './expectation.js'
import { type Letters, lettersOf, overlap, placesOf, type Range } from './place.js'

/** The current location of an anchor: a document and ranges of its text; without ranges, the entire document. */
export interface Label {
  documentId: string
  ranges?: Range[]
}

export type Resolved = { label: Label } | { unresolved: string }

const PAGE = 100

interface Known {
  id: string
  filename: string
}

/** Locates anchors in the published documents. Loaded outlines and texts are cached. */
export class Anchors {
  readonly #client: Client
  readonly #spaceId: string
  #documents: Promise<Known[]> | undefined
  readonly #outlines = new Map<string, Promise<OutlineNode[]>>()
  readonly #texts = new Map<string, Promise<Letters | undefined>>()

  constructor(client: Client, spaceId: string) {
    this.#client = client
    this.#spaceId = spaceId
  }

  /** The location of the anchor, or why it was not found. */
  async resolve(anchor: Anchor): Promise<Resolved> {
    const documents = await this.#named(anchor.document)
    const [document, other] = documents
    if (document === undefined) return { unresolved: `no document has the path ${JSON.stringify(anchor.document)}` }
    if (other !== undefined)
      return { unresolved: `${documents.length} documents have a path that ends in ${anchor.document}` }
    const sections = anchor.heading.length === 0 ? undefined : await this.#sections(document.id, anchor.heading)
    if (sections?.length === 0) {
      return { unresolved: `${document.filename} has no section ${anchor.heading.join(' > ')}` }
    }
    if (anchor.quote === undefined) {
      return { label: { documentId: document.id, ...defined({ ranges: sections }) } }
    }
    const text = await this.#text(document)
    if (text === undefined) return { unresolved: `the text of ${document.filename} cannot be read` }
    const places = placesOf(anchor.quote, text)
    if (places.length === 0) return { unresolved: `${document.filename} does not contain the quote` }
    const within = sections === undefined ? places : places.filter((place) => sections.some((at) => overlap(place, at)))
    if (within.length === 0) return { unresolved: `the quote is not under ${anchor.heading.join(' > ')}` }
    return { label: { documentId: document.id, ranges: within } }
  }

  /** The documents with this path: the newest with exactly this name, else all whose paths end in it. */
  async #named(path: string): Promise<Known[]> {
    this.#documents ??= this.#list()
    const all = await this.#documents
    const exact = all.filter(({ filename }) => filename === path)
    if (exact.length > 0) return exact.slice(-1)
    return all.filter(({ filename }) => filename.endsWith(`/${path}`))
  }

  async #list(): Promise<Known[]> {
    const documents: Known[] = []
    const pages = paginate(
      (query) => this.#client.request('GET /knowledge-spaces/{id}/documents', { path: { id: this.#spaceId }, query }),
      { pageSize: PAGE },
    )
    for await (const { id, filename } of pages) documents.push({ id, filename })
    return documents
  }

  /** Ranges of the sections whose path of titles ends in the heading. */
  async #sections(documentId: string, heading: readonly string[]): Promise<Range[]> {
    let outline = this.#outlines.get(documentId)
    if (outline === undefined) {
      outline = this.#client
        .request('GET /knowledge-spaces/{id}/documents/{documentId}/outline', {
          path: { id: this.#spaceId, documentId },
        })
        .then(({ nodes }) => nodes)
      this.#outlines.set(documentId, outline)
    }
    const wanted = heading.map(plainTitle)
    return allNodes(await outline).flatMap(({ sectionPath, startOffset, endOffset }): Range[] => {
      const end = sectionPath.slice(-wanted.length).map(plainTitle)
      const fits = end.length === wanted.length && end.every((title, index) => title === wanted[index])
      if (!fits || startOffset === undefined || endOffset === undefined) return []
      return [{ start: startOffset, end: endOffset }]
    })
  }

  #text(document: Known): Promise<Letters | undefined> {
    let text = this.#texts.get(document.id)
    if (text === undefined) {
      text = this.#read(document)
      this.#texts.set(document.id, text)
    }
    return text
  }

  async #read(document: Known): Promise<Letters | undefined> {
    const path = await this.#pathOf(document)
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
    return lettersOf(text)
  }

  /** The document's path below /sources; its offsets are those of citations. */
  async #pathOf({ id, filename }: Known): Promise<string | undefined> {
    const nameContains = filename.slice(filename.lastIndexOf('/') + 1).slice(0, PAGE)
    const found = paginate(
      ({ limit, cursor }) =>
        this.#client.request('GET /knowledge-spaces/{id}/fs/find', {
          path: { id: this.#spaceId },
          query: {
            path: '/sources',
            limit: String(limit),
            nameContains,
            resourceType: 'document' as const,
            ...defined({ cursor }),
          },
        }),
      { pageSize: PAGE },
    )
    for await (const item of found) if (item.targetId === id) return item.path
    return undefined
  }
}

function allNodes(nodes: readonly OutlineNode[]): OutlineNode[] {
  return nodes.flatMap((node) => [node, ...allNodes(node.children)])
}

/** Normalizes a title: case, spaces, numbering and punctuation are ignored. */
function plainTitle(title: string): string {
  const words =
    title
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  const named = words.filter(
    (word, index) => !/^\d+$/.test(word) || words.slice(0, index).some((w) => !/^\d+$/.test(w)),
  )
  return (named.length === 0 ? words : named).join(' ')
}
