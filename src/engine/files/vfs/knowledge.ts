import { KsError } from '../../../contract/errors.js'
import type { VirtualItem } from '../../../contract/gateway/fs.js'
import { createInvalidCursorError } from '../../base/cursor.js'
import { AFTER_ALL_TEXTS } from '../../base/folders.js'
import { joinVirtualPath } from '../../base/virtual-paths.js'
import { isDamaged } from '../../store/guarded-rows.js'
import { matchesRowHash } from '../../store/node-hash.js'
import type { DocumentEntry, NamePosition } from '../rows/vfs/documents.js'
import { listNodeTextsAfter, type NodeText } from '../rows/vfs/passages.js'
import { type DocumentTrees, findInTree, isPassageFile, type PassageFile, type SectionFolder } from './document-tree.js'
import { findDocumentPosition, getIdBounds, listVisibleByName } from './documents.js'
import {
  DOCUMENTS_FOLDER,
  listDescendants,
  listOrdinals,
  makeDocumentFolder,
  makeDocumentsItem,
  toEntryItem,
} from './knowledge-items.js'
import { findDocumentByName, mayMatchName, toCursorName } from './names.js'
import {
  type CursorPosition,
  getCursorInteger,
  getCursorText,
  makeEntryPage,
  makeNode,
  PLAIN_TEXT,
  type TextUnit,
  type VfsEntry,
  type VfsEntryPage,
  type VfsNode,
  type WalkFilter,
  type WalkStep,
} from './namespace.js'
import type { Semantic } from './semantic.js'
import { readDocumentText, type StoredTexts } from './stored-text.js'
import type { VfsView } from './view.js'

/** marks a position after the documents; no document has this name */
const AFTER_DOCUMENTS = '/'
/** passages of one slice; with their texts some hundred kilobytes */
const TEXTS_PER_SLICE = 200

/** The documents as folders of sections, and their passages as files. */
export class Knowledge {
  readonly #view: VfsView
  readonly #trees: DocumentTrees
  readonly #stored: StoredTexts
  readonly #semantic: Semantic

  constructor(view: VfsView, trees: DocumentTrees, texts: StoredTexts, semantic: Semantic) {
    this.#view = view
    this.#trees = trees
    this.#stored = texts
    this.#semantic = semantic
  }

  async resolve(segments: readonly string[]): Promise<VfsNode | undefined> {
    const [first, name, ...path] = segments
    if (first === undefined) return this.#root()
    if (first !== DOCUMENTS_FOLDER) return this.#semantic.resolve(segments)
    if (name === undefined) return this.#documents()
    const row = await findDocumentByName(this.#view, name)
    if (row === undefined) return undefined
    const item = await this.#item(row)
    const tree = row.version_key === null ? undefined : await this.#trees.load(row.version_key, this.#view.clock)
    if (tree === undefined) return path.length === 0 ? makeNode(item) : undefined
    const entry = findInTree(tree, path)
    if (entry === undefined) return undefined
    return isPassageFile(entry) ? this.#passage(row, item.path, entry) : this.#section(row, item, entry)
  }

  #root(): VfsNode {
    const folders = [makeDocumentsItem(), ...this.#semantic.folders()].sort((a, b) => (a.name < b.name ? -1 : 1))
    const entries = folders.map((item, index): VfsEntry => ({ item, after: [index + 1] }))
    return makeNode(
      { kind: 'directory', name: 'knowledge', path: joinVirtualPath('knowledge', []), metadata: {} },
      {
        list: (after, limit) =>
          Promise.resolve(makeEntryPage(entries, after === undefined ? 0 : getCursorInteger(after, 0), limit)),
        walk: (after, filter) => this.#walkAll(after, filter),
        // only the documents: the other folders show their passages again
        texts: (after) => this.#texts(after),
      },
    )
  }

  /** The folder of documents with its content, then the semantic views and entities. */
  async *#walkAll(after: CursorPosition | undefined, filter?: WalkFilter): AsyncGenerator<WalkStep> {
    const isAfterDocuments = after?.[0] === AFTER_DOCUMENTS
    if (after === undefined) yield { item: makeDocumentsItem(), after: [DOCUMENTS_FOLDER] }
    if (!isAfterDocuments)
      yield* this.#walk(after?.[0] === DOCUMENTS_FOLDER && after.length === 1 ? undefined : after, filter)
    for await (const step of this.#semantic.walk(isAfterDocuments ? after.slice(1) : undefined))
      yield { ...step, after: [AFTER_DOCUMENTS, ...step.after] }
  }

  #documents(): VfsNode {
    return makeNode(makeDocumentsItem(), {
      list: (after, limit) => this.#list(after, limit),
      walk: (after, filter) => this.#walk(after, filter),
      texts: (after) => this.#texts(after),
    })
  }

  async #list(after: CursorPosition | undefined, limit: number): Promise<VfsEntryPage> {
    const entries: VfsEntry[] = []
    let before: DocumentEntry | undefined
    for await (const row of this.#rows(await this.#toStartKey(after), limit + 1)) {
      if (entries.length === limit) return { entries, more: true }
      entries.push({ item: await this.#item(row, before), after: toCursorPosition(row, 0) })
      before = row
      if (this.#view.clock.isYieldDue) await this.#view.clock.yieldIfDue()
    }
    return { entries, more: false }
  }

  /** The position of an entry: its document, and the count of the document's entries up to and including it. */
  async *#walk(after: CursorPosition | undefined, filter: WalkFilter = {}): AsyncGenerator<WalkStep> {
    const { resourceType, namePart } = filter
    const inside = resourceType === undefined || resourceType === 'node'
    let skip = after === undefined ? 0 : getCursorInteger(after, 2)
    if (after !== undefined && skip > 0) {
      const row = await this.#findRowAt(after)
      if (row !== undefined && inside) yield* this.#walkDocument(row, skip)
    }
    skip = 0
    let before: DocumentEntry | undefined
    for await (const row of this.#rows(await this.#toStartKey(after), 100)) {
      if (mayMatchName(row, namePart)) yield { item: await this.#item(row, before), after: toCursorPosition(row, 1) }
      else yield { after: toCursorPosition(row, 1) }
      if (inside) yield* this.#walkDocument(row, 1)
      before = row
    }
  }

  async *#walkDocument(row: DocumentEntry, skip: number): AsyncGenerator<VfsEntry> {
    const tree = row.version_key === null ? undefined : await this.#trees.load(row.version_key, this.#view.clock)
    if (tree === undefined || tree.entries.length < skip) return
    const { path } = await this.#item(row)
    for (const [index, entry] of tree.entries.slice(skip - 1).entries())
      yield { item: toEntryItem(row, path, entry), after: toCursorPosition(row, skip + index + 1) }
  }

  #section(row: DocumentEntry, document: VirtualItem, branch: SectionFolder): VfsNode {
    const entries = (): VfsEntry[] =>
      [...branch.branches, ...branch.leaves].map((child, index) => ({
        item: toEntryItem(row, document.path, child),
        after: [index + 1],
      }))
    const below = (): VfsEntry[] =>
      [...listDescendants(branch)].map((child, index) => ({
        item: toEntryItem(row, document.path, child),
        after: [index + 1],
      }))
    const isWhole = branch.section === undefined
    return makeNode(isWhole ? document : toEntryItem(row, document.path, branch), {
      list: (after, limit) =>
        Promise.resolve(makeEntryPage(entries(), after === undefined ? 0 : getCursorInteger(after, 0), limit)),
      walk: async function* (after) {
        yield* below().slice(after === undefined ? 0 : getCursorInteger(after, 0))
      },
      texts: (after) => this.#textsIn(row, after, new Set(listOrdinals(branch))),
      // a folder in listings, a text for readers
      ...(isWhole ? { read: () => readDocumentText(this.#stored, row) } : {}),
    })
  }

  #passage(row: DocumentEntry, documentPath: string, leaf: PassageFile): VfsNode {
    const text = async (): Promise<string> => {
      if (row.version_key === null) return ''
      const [node] = await this.#view.db.read(listNodeTextsAfter(row.version_key, leaf.node.ordinal - 1, 1))
      if (node !== undefined && !matchesRowHash(node))
        throw new KsError(
          'data-damaged',
          `passage ${node.id} differs from what was stored; \`ks fsck --repair\` reads its document again`,
        )
      return node?.text ?? ''
    }
    return makeNode(toEntryItem(row, documentPath, leaf), {
      texts: (after) => this.#textsIn(row, after, new Set([leaf.node.ordinal])),
      read: async () => ({ text: await text(), contentType: PLAIN_TEXT }),
    })
  }

  async *#texts(after: CursorPosition | undefined): AsyncGenerator<TextUnit> {
    if (after !== undefined) {
      const row = await this.#findRowAt(after)
      if (row !== undefined) yield* this.#textsIn(row, after)
    }
    for await (const row of this.#rows(await this.#toStartKey(after), 100)) {
      yield* this.#textsIn(row, undefined)
      if (this.#view.clock.isYieldDue) await this.#view.clock.yieldIfDue()
    }
  }

  /** @param ordinals of the selected passages; all when not given */
  async *#textsIn(
    row: DocumentEntry,
    after: CursorPosition | undefined,
    ordinals?: ReadonlySet<number>,
  ): AsyncGenerator<TextUnit> {
    if (row.version_key === null) return
    let ordinal = (after === undefined ? 0 : getCursorInteger(after, 2)) - 1
    for (;;) {
      const nodes = await this.#view.db.read(listNodeTextsAfter(row.version_key, ordinal, TEXTS_PER_SLICE))
      for (const node of nodes)
        if ((ordinals?.has(node.ordinal) ?? true) && !isDamaged(node) && matchesRowHash(node))
          yield this.#unit(row, node)
      const last = nodes[nodes.length - 1]
      if (last === undefined || nodes.length < TEXTS_PER_SLICE) return
      ordinal = last.ordinal
    }
  }

  #unit(row: DocumentEntry, node: NodeText): TextUnit {
    // a node that continues a table starts with the table's header, which is not at its offset in the text
    const header = Math.max(0, node.text.length - (node.end_offset - node.start_offset))
    const toDocumentOffset = (index: number): number => node.start_offset + Math.max(0, index - header)
    return {
      id: node.id,
      text: node.text,
      after: toCursorPosition(row, node.ordinal + 1),
      describe: async (start, end) => {
        const document = await this.#item(row)
        const tree = row.version_key === null ? undefined : await this.#trees.load(row.version_key, this.#view.clock)
        const leaf = tree?.passageByOrdinal.get(node.ordinal)
        const item = leaf === undefined ? undefined : toEntryItem(row, document.path, leaf)
        return {
          kind: 'node',
          path: item?.path ?? document.path,
          startOffset: toDocumentOffset(start),
          endOffset: toDocumentOffset(end),
          nodeId: node.id,
          metadata: { documentId: row.id, filename: row.filename, ...item?.metadata },
        }
      },
    }
  }

  #item(row: DocumentEntry, before?: DocumentEntry): Promise<VirtualItem> {
    return makeDocumentFolder(this.#view, row, before)
  }

  #rows(after: NamePosition | undefined, expect: number): AsyncGenerator<DocumentEntry> {
    return listVisibleByName(this.#view, { after: after ?? ['', ''], before: [AFTER_ALL_TEXTS, ''], expect })
  }

  async #toStartKey(after: CursorPosition | undefined): Promise<NamePosition | undefined> {
    if (after === undefined) return undefined
    const id = getCursorText(after, 1)
    const base = getCursorText(after, 0)
    return [base === '' ? (await this.#view.db.read(findDocumentPosition(this.#view, id))).base : base, id]
  }

  /** The document at the position of a cursor, if it is still visible. */
  async #findRowAt(after: CursorPosition): Promise<DocumentEntry | undefined> {
    const key = await this.#toStartKey(after)
    if (key === undefined) throw createInvalidCursorError()
    const [base, id] = key
    const { after: low, before: high } = getIdBounds(id)
    for await (const row of listVisibleByName(this.#view, { after: [base, low], before: [base, high] })) return row
    return undefined
  }
}

function toCursorPosition(row: DocumentEntry, count: number): CursorPosition {
  return [toCursorName(row.base), row.id, count]
}
