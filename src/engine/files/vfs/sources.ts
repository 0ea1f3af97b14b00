import type { VirtualItem } from '../../../contract/gateway/fs.js'
import { isUuid } from '../../../lib/ids.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { FOLDER_END, listOpenedFolders } from '../../base/folders.js'
import { joinVirtualPath } from '../../base/virtual-paths.js'
import { isRetainedScope } from '../../store/rows/permissions.js'
import { type FileEntry, listSourcesByName, type SourcePosition } from '../rows/vfs/documents.js'
import { findDocumentPosition, findSourceAfter, getSourceSubtreeBounds, listVisibleInSource } from './documents.js'
import { findDocumentInFolder, mayMatchName, toCursorName } from './names.js'
import {
  type CursorPosition,
  getCursorInteger,
  getCursorText,
  makeEntryPage,
  makeNode,
  type TextUnit,
  type VfsEntry,
  type VfsEntryPage,
  type VfsNode,
  type WalkFilter,
  type WalkStep,
} from './namespace.js'
import { listSourceFolder } from './source-folder.js'
import { getSourceFolderName, makeFileItem, makeFolderItem, makeSourceItem, UPLOADS_FOLDER } from './source-items.js'
import { findElementAt, readDocumentText, type StoredTexts } from './stored-text.js'
import type { VfsView } from './view.js'

/** Raw documents by source, in the folders of their file names. */
export class SourcesNamespace {
  readonly #view: VfsView
  readonly #texts: StoredTexts

  constructor(view: VfsView, texts: StoredTexts) {
    this.#view = view
    this.#texts = texts
  }

  async resolve(segments: readonly string[]): Promise<VfsNode | undefined> {
    const [first, ...rest] = segments
    if (first === undefined) return this.#root()
    const source =
      first === UPLOADS_FOLDER ? null : isUuid(first) || isRetainedScope(first) ? first : await this.#findByName(first)
    if (source === undefined) return undefined
    const folder = rest.map((part) => part + FOLDER_END).join('')
    if ((source === null && rest.length === 0) || (await this.#hasVisible(source, folder)))
      return this.#folder(source, folder)
    const name = rest[rest.length - 1]
    if (name === undefined) return undefined
    const parent = folder.slice(0, -name.length - FOLDER_END.length)
    const row = await findDocumentInFolder(this.#view, source, parent, name)
    return row === undefined ? undefined : this.#file(row)
  }

  #root(): VfsNode {
    const item: VirtualItem = { kind: 'directory', name: 'sources', path: joinVirtualPath('sources', []), metadata: {} }
    return makeNode(item, {
      list: (after, limit) => this.#listSources(after, limit),
      walk: (after, filter) => this.#walkAll(after, filter),
      texts: (after) => this.#textsOfAll(after),
    })
  }

  /** Sources in the order of their ids, then the uploads: the sort order of their names. */
  async #listSources(after: CursorPosition | undefined, limit: number): Promise<VfsEntryPage> {
    const entries: VfsEntry[] = []
    const last = after === undefined ? '' : getCursorText(after, 0)
    if (last === UPLOADS_FOLDER) return { entries, more: false }
    for (let source = await findSourceAfter(this.#view, last); source !== undefined; ) {
      if (entries.length === limit) return { entries, more: true }
      entries.push({ item: await this.#view.db.read(makeSourceItem(this.#view, source)), after: [source] })
      source = await findSourceAfter(this.#view, source)
    }
    entries.push({ item: makeFolderItem(null, ''), after: [UPLOADS_FOLDER] })
    return makeEntryPage(entries, 0, limit)
  }

  async #folder(source: string | null, folder: string): Promise<VfsNode> {
    const item =
      folder === '' ? await this.#view.db.read(makeSourceItem(this.#view, source)) : makeFolderItem(source, folder)
    return makeNode(item, {
      list: (after, limit) => listSourceFolder(this.#view, { source, folder }, after, limit),
      walk: (after, filter) => this.#walk(source, folder, after, filter),
      texts: (after) => this.#textsIn(source, folder, after),
    })
  }

  async #file(row: FileEntry): Promise<VfsNode> {
    const item = await makeFileItem(this.#view, row)
    return makeNode(item, {
      texts: (after) => this.#textOf(row, after),
      read: () => readDocumentText(this.#texts, row),
    })
  }

  /** The oldest source with a name that has visible documents: paths consist of ids, but people know names. */
  async #findByName(name: string): Promise<string | undefined> {
    for (const id of await this.#view.db.read(listSourcesByName(this.#view, name)))
      if (await this.#hasVisible(id, '')) return id
    return undefined
  }

  /** Whether a visible document exists in this folder or below. */
  async #hasVisible(source: string | null, folder: string): Promise<boolean> {
    for await (const _ of listVisibleInSource(this.#view, source, getSourceSubtreeBounds(folder))) return true
    return false
  }

  async *#walkAll(after: CursorPosition | undefined, filter?: WalkFilter): AsyncGenerator<WalkStep> {
    const started = after === undefined ? undefined : getCursorText(after, 0)
    if (started !== UPLOADS_FOLDER) {
      if (started !== undefined) yield* this.#walk(started, '', after, filter)
      for (
        let source = await findSourceAfter(this.#view, started ?? '');
        source !== undefined;
        source = await findSourceAfter(this.#view, source)
      ) {
        yield { item: await this.#view.db.read(makeSourceItem(this.#view, source)), after: [source, '', '', 0] }
        yield* this.#walk(source, '', undefined, filter)
      }
      yield { item: makeFolderItem(null, ''), after: [UPLOADS_FOLDER, '', '', 0] }
    }
    yield* this.#walk(null, '', started === UPLOADS_FOLDER ? after : undefined, filter)
  }

  /**
   * Documents in order of their folders, each folder before its first document. The position of an entry is the
   * document before it and the count of folders since then.
   */
  async *#walk(
    source: string | null,
    folder: string,
    after: CursorPosition | undefined,
    filter?: WalkFilter,
  ): AsyncGenerator<WalkStep> {
    const range = getSourceSubtreeBounds(folder)
    const start = await this.#toStartKey(source, after)
    let yieldedFolders = after === undefined ? 0 : getCursorInteger(after, 3)
    let previous = start === undefined ? folder : start[0]
    let position: CursorPosition = start === undefined ? [getSourceFolderName(source), '', '', 0] : (after ?? [])
    let before: FileEntry | undefined
    for await (const row of listVisibleInSource(this.#view, source, {
      ...range,
      after: start ?? range.after,
      expect: 100,
    })) {
      for (const newFolder of listOpenedFolders(previous, row.folder).slice(yieldedFolders)) {
        yieldedFolders += 1
        position = [...position.slice(0, 3), yieldedFolders]
        yield { item: makeFolderItem(source, newFolder), after: position }
      }
      yieldedFolders = 0
      previous = row.folder
      position = [getSourceFolderName(source), toCursorName(row.path_name), row.id, 0]
      if (mayMatchName(row, filter?.namePart))
        yield { item: await makeFileItem(this.#view, row, before), after: position }
      else yield { after: position }
      before = row
    }
  }

  async *#textsOfAll(after: CursorPosition | undefined): AsyncGenerator<TextUnit> {
    const started = after === undefined ? undefined : getCursorText(after, 0)
    if (started !== UPLOADS_FOLDER) {
      if (started !== undefined) yield* this.#textsIn(started, '', after)
      for (
        let source = await findSourceAfter(this.#view, started ?? '');
        source !== undefined;
        source = await findSourceAfter(this.#view, source)
      )
        yield* this.#textsIn(source, '', undefined)
    }
    yield* this.#textsIn(null, '', started === UPLOADS_FOLDER ? after : undefined)
  }

  async *#textsIn(source: string | null, folder: string, after: CursorPosition | undefined): AsyncGenerator<TextUnit> {
    const range = getSourceSubtreeBounds(folder)
    const start = (await this.#toStartKey(source, after)) ?? range.after
    for await (const row of listVisibleInSource(this.#view, source, { ...range, after: start, expect: 100 }))
      yield* this.#textOf(row, undefined)
  }

  async *#textOf(row: FileEntry, after: CursorPosition | undefined): AsyncGenerator<TextUnit> {
    if (after !== undefined || row.version_key === null) return
    const stored = await this.#texts.loadOnce(row.version_key)
    if (stored === undefined) return
    yield {
      id: row.id,
      text: stored.text,
      after: [getSourceFolderName(row.source_id), toCursorName(row.path_name), row.id, 0],
      describe: async (startOffset, endOffset) => {
        const { path } = await makeFileItem(this.#view, row)
        const element = findElementAt(stored.elements, startOffset)
        return {
          kind: 'segment',
          path,
          startOffset,
          endOffset,
          segmentId: `${row.id}:${element?.id ?? `${startOffset}-${endOffset}`}`,
          metadata: {
            documentId: row.id,
            filename: row.filename,
            ...omitUndefined({ elementType: element?.type, sectionPath: element?.sectionPath }),
            ...(element?.pageNumber === undefined ? {} : { pageNumber: element.pageNumber }),
          },
        }
      },
    }
  }

  /** The document at the position of a walk's cursor; none before the first. */
  async #toStartKey(source: string | null, after: CursorPosition | undefined): Promise<SourcePosition | undefined> {
    if (after === undefined || getCursorText(after, 0) !== getSourceFolderName(source)) return undefined
    const id = getCursorText(after, 2)
    if (id === '') return undefined
    const pathName = getCursorText(after, 1)
    if (pathName === '') {
      const { folder, base } = await this.#view.db.read(findDocumentPosition(this.#view, id))
      return [folder, base, id]
    }
    const parts = pathName.split('/')
    const base = parts.pop() ?? ''
    return [parts.map((part) => part + FOLDER_END).join(''), base, id]
  }
}
