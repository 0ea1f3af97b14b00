import { KsError } from '../../contract/errors.js'
import type { VirtualItem } from '../../contract/gateway/fs.js'
import { brokenCursor } from '../base/cursor.js'
import { LAST } from '../base/folders.js'
import { joinPath } from '../base/virtual-paths.js'
import type { DocumentEntry, NameKey } from '../rows/vfs/documents.js'
import { type NodeText, nodeTextsAfter } from '../rows/vfs/passages.js'
import { isDamaged } from '../storage/guarded-rows.js'
import { saysWhatWasStored } from '../storage/node-hash.js'
import { type Branch, type DocumentTrees, findInTree, isLeaf, type Leaf } from './document-tree.js'
import { boundsOf, documentsByName, placeOfDocument } from './documents.js'
import { DOCUMENTS, documentFolder, documentsItem, entryItem, everythingIn, leavesIn } from './knowledge-items.js'
import { cursorName, documentNamed, mayBeNamed } from './names.js'
import {
  type After,
  type Entry,
  type EntryPage,
  integerAt,
  PLAIN_TEXT,
  type Place,
  pageOf,
  placeOf,
  type Step,
  type TextUnit,
  textAt,
  type Wanted,
} from './namespace.js'
import type { Semantic } from './semantic.js'
import { type StoredTexts, textOfDocument } from './stored-text.js'
import type { View } from './view.js'

/** marks a position after the documents; no document has this name */
const BEYOND = '/'
/** passages of one slice; with their texts some hundred kilobytes */
const TEXTS_PER_SLICE = 200

/** The documents as folders of sections, and their passages as files. */
export class Knowledge {
  readonly #view: View
  readonly #trees: DocumentTrees
  readonly #stored: StoredTexts
  readonly #semantic: Semantic

  constructor(view: View, trees: DocumentTrees, texts: StoredTexts, semantic: Semantic) {
    this.#view = view
    this.#trees = trees
    this.#stored = texts
    this.#semantic = semantic
  }

  async resolve(segments: readonly string[]): Promise<Place | undefined> {
    const [first, name, ...path] = segments
    if (first === undefined) return this.#root()
    if (first !== DOCUMENTS) return this.#semantic.resolve(segments)
    if (name === undefined) return this.#documents()
    const row = await documentNamed(this.#view, name)
    if (row === undefined) return undefined
    const item = await this.#item(row)
    const tree = row.version_key === null ? undefined : await this.#trees.of(row.version_key, this.#view.clock)
    if (tree === undefined) return path.length === 0 ? placeOf(item) : undefined
    const found = findInTree(tree, path)
    if (found === undefined) return undefined
    return isLeaf(found) ? this.#passage(row, item.path, found) : this.#section(row, item, found)
  }

  #root(): Place {
    const folders = [documentsItem(), ...this.#semantic.folders()].sort((a, b) => (a.name < b.name ? -1 : 1))
    const entries = folders.map((item, place): Entry => ({ item, after: [place + 1] }))
    return placeOf(
      { kind: 'directory', name: 'knowledge', path: joinPath('knowledge', []), metadata: {} },
      {
        list: (after, limit) => Promise.resolve(pageOf(entries, after === undefined ? 0 : integerAt(after, 0), limit)),
        walk: (after, wanted) => this.#everything(after, wanted),
        // only the documents: the other folders show their passages again
        texts: (after) => this.#texts(after),
      },
    )
  }

  /** The folder of documents with its content, then the semantic views and entities. */
  async *#everything(after: After | undefined, wanted?: Wanted): AsyncGenerator<Step> {
    const beyond = after?.[0] === BEYOND
    if (after === undefined) yield { item: documentsItem(), after: [DOCUMENTS] }
    if (!beyond) yield* this.#walk(after?.[0] === DOCUMENTS && after.length === 1 ? undefined : after, wanted)
    for await (const step of this.#semantic.walk(beyond ? after.slice(1) : undefined))
      yield { ...step, after: [BEYOND, ...step.after] }
  }

  #documents(): Place {
    return placeOf(documentsItem(), {
      list: (after, limit) => this.#list(after, limit),
      walk: (after, wanted) => this.#walk(after, wanted),
      texts: (after) => this.#texts(after),
    })
  }

  async #list(after: After | undefined, limit: number): Promise<EntryPage> {
    const entries: Entry[] = []
    let before: DocumentEntry | undefined
    for await (const row of this.#rows(await this.#startOf(after), limit + 1)) {
      if (entries.length === limit) return { entries, more: true }
      entries.push({ item: await this.#item(row, before), after: placeAfter(row, 0) })
      before = row
      if (this.#view.clock.due) await this.#view.clock.turn()
    }
    return { entries, more: false }
  }

  /** The position of an entry: its document, and the count of the document's entries up to and including it. */
  async *#walk(after: After | undefined, wanted: Wanted = {}): AsyncGenerator<Step> {
    const { resourceType, namePart } = wanted
    const inside = resourceType === undefined || resourceType === 'node'
    let skip = after === undefined ? 0 : integerAt(after, 2)
    if (after !== undefined && skip > 0) {
      const row = await this.#rowAt(after)
      if (row !== undefined && inside) yield* this.#inside(row, skip)
    }
    skip = 0
    let before: DocumentEntry | undefined
    for await (const row of this.#rows(await this.#startOf(after), 100)) {
      if (mayBeNamed(row, namePart)) yield { item: await this.#item(row, before), after: placeAfter(row, 1) }
      else yield { after: placeAfter(row, 1) }
      if (inside) yield* this.#inside(row, 1)
      before = row
    }
  }

  async *#inside(row: DocumentEntry, skip: number): AsyncGenerator<Entry> {
    const tree = row.version_key === null ? undefined : await this.#trees.of(row.version_key, this.#view.clock)
    if (tree === undefined || tree.entries.length < skip) return
    const { path } = await this.#item(row)
    for (const [index, entry] of tree.entries.slice(skip - 1).entries())
      yield { item: entryItem(row, path, entry), after: placeAfter(row, skip + index + 1) }
  }

  #section(row: DocumentEntry, document: VirtualItem, branch: Branch): Place {
    const entries = (): Entry[] =>
      [...branch.branches, ...branch.leaves].map((child, index) => ({
        item: entryItem(row, document.path, child),
        after: [index + 1],
      }))
    const below = (): Entry[] =>
      [...everythingIn(branch)].map((child, index) => ({
        item: entryItem(row, document.path, child),
        after: [index + 1],
      }))
    const isWhole = branch.section === undefined
    return placeOf(isWhole ? document : entryItem(row, document.path, branch), {
      list: (after, limit) => Promise.resolve(pageOf(entries(), after === undefined ? 0 : integerAt(after, 0), limit)),
      walk: async function* (after) {
        yield* below().slice(after === undefined ? 0 : integerAt(after, 0))
      },
      texts: (after) => this.#textsIn(row, after, new Set(leavesIn(branch))),
      // a folder in listings, a text for readers
      ...(isWhole ? { read: () => textOfDocument(this.#stored, row) } : {}),
    })
  }

  #passage(row: DocumentEntry, documentPath: string, leaf: Leaf): Place {
    const text = async (): Promise<string> => {
      if (row.version_key === null) return ''
      const [node] = await this.#view.db.read(nodeTextsAfter(row.version_key, leaf.node.ordinal - 1, 1))
      if (node !== undefined && !saysWhatWasStored(node))
        throw new KsError(
          'data-damaged',
          `passage ${node.id} differs from what was stored; \`ks fsck --repair\` reads its document again`,
        )
      return node?.text ?? ''
    }
    return placeOf(entryItem(row, documentPath, leaf), {
      texts: (after) => this.#textsIn(row, after, new Set([leaf.node.ordinal])),
      read: async () => ({ text: await text(), contentType: PLAIN_TEXT }),
    })
  }

  async *#texts(after: After | undefined): AsyncGenerator<TextUnit> {
    if (after !== undefined) {
      const row = await this.#rowAt(after)
      if (row !== undefined) yield* this.#textsIn(row, after)
    }
    for await (const row of this.#rows(await this.#startOf(after), 100)) {
      yield* this.#textsIn(row, undefined)
      if (this.#view.clock.due) await this.#view.clock.turn()
    }
  }

  /** @param ordinals of the selected passages; all when not given */
  async *#textsIn(
    row: DocumentEntry,
    after: After | undefined,
    chosen?: ReadonlySet<number>,
  ): AsyncGenerator<TextUnit> {
    if (row.version_key === null) return
    let ordinal = (after === undefined ? 0 : integerAt(after, 2)) - 1
    for (;;) {
      const nodes = await this.#view.db.read(nodeTextsAfter(row.version_key, ordinal, TEXTS_PER_SLICE))
      for (const node of nodes)
        if ((chosen?.has(node.ordinal) ?? true) && !isDamaged(node) && saysWhatWasStored(node))
          yield this.#unit(row, node)
      const last = nodes[nodes.length - 1]
      if (last === undefined || nodes.length < TEXTS_PER_SLICE) return
      ordinal = last.ordinal
    }
  }

  #unit(row: DocumentEntry, node: NodeText): TextUnit {
    // a node that continues a table starts with the table's header, which is not at its offset in the text
    const header = Math.max(0, node.text.length - (node.end_offset - node.start_offset))
    const offsetOf = (place: number): number => node.start_offset + Math.max(0, place - header)
    return {
      id: node.id,
      text: node.text,
      after: placeAfter(row, node.ordinal + 1),
      describe: async (start, end) => {
        const document = await this.#item(row)
        const tree = row.version_key === null ? undefined : await this.#trees.of(row.version_key, this.#view.clock)
        const leaf = tree?.leafOf.get(node.ordinal)
        const item = leaf === undefined ? undefined : entryItem(row, document.path, leaf)
        return {
          kind: 'node',
          path: item?.path ?? document.path,
          startOffset: offsetOf(start),
          endOffset: offsetOf(end),
          nodeId: node.id,
          metadata: { documentId: row.id, filename: row.filename, ...item?.metadata },
        }
      },
    }
  }

  #item(row: DocumentEntry, before?: DocumentEntry): Promise<VirtualItem> {
    return documentFolder(this.#view, row, before)
  }

  #rows(after: NameKey | undefined, expect: number): AsyncGenerator<DocumentEntry> {
    return documentsByName(this.#view, { after: after ?? ['', ''], before: [LAST, ''], expect })
  }

  async #startOf(after: After | undefined): Promise<NameKey | undefined> {
    if (after === undefined) return undefined
    const id = textAt(after, 1)
    const base = textAt(after, 0)
    return [base === '' ? (await this.#view.db.read(placeOfDocument(this.#view, id))).base : base, id]
  }

  /** The document at the position of a cursor, if it is still visible. */
  async #rowAt(after: After): Promise<DocumentEntry | undefined> {
    const key = await this.#startOf(after)
    if (key === undefined) throw brokenCursor()
    const [base, id] = key
    const { after: low, before: high } = boundsOf(id)
    for await (const row of documentsByName(this.#view, { after: [base, low], before: [base, high] })) return row
    return undefined
  }
}

function placeAfter(row: DocumentEntry, count: number): After {
  return [cursorName(row.base), row.id, count]
}
