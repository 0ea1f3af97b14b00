import { KsError } from '../../../contract/errors.js'
import { toDiskError } from '../../../local/disk-error.js'
import { createInvalidCursorError } from '../../base/cursor.js'
import { AFTER_ALL_TEXTS, FOLDER_END, getChildFolder, listOpenedFolders } from '../../base/folders.js'
import { isDamaged } from '../../store/guarded-rows.js'
import { unlessDamagedError } from '../../store/readable.js'
import {
  findFileAsOf,
  findFilePosition,
  getSubtreeBounds,
  listWorkspaceFiles,
  toFileItem,
  toFolder,
  toFolderItem,
  toSegments,
  type WorkspaceFile,
  type WorkspaceFilePosition,
} from '../../store/rows/workspaces.js'
import { toCursorName } from './names.js'
import {
  type CursorPosition,
  getCursorInteger,
  getCursorText,
  makeNode,
  type ResourceContent,
  type TextUnit,
  type VfsEntry,
  type VfsEntryPage,
  type VfsNode,
  type WalkStep,
} from './namespace.js'
import type { VfsView } from './view.js'

/** rows of one batch */
const BATCH_ROWS = 200
/** First part of a position in a folder: folders sort before files. */
const FOLDER_POSITION = 0
const FILE_POSITION = 1

/** Source of the bytes of objects. */
export interface ObjectBytes {
  bytes(key: string): Promise<Buffer>
}

/** Files that agents wrote, as of one change. Folders are not stored: they follow from the files. */
export class WorkspacesNamespace {
  readonly #view: VfsView
  readonly #objects: ObjectBytes
  readonly #state: { spaceKey: number; seq: number }

  constructor(view: VfsView, objects: ObjectBytes) {
    this.#view = view
    this.#objects = objects
    this.#state = { spaceKey: view.space.key, seq: view.change }
  }

  async resolve(segments: readonly string[]): Promise<VfsNode | undefined> {
    const folder = toFolder(segments)
    if (folder === '' || (await this.#findFirst(folder)) !== undefined) return this.#folder(folder)
    const name = segments[segments.length - 1]
    if (name === undefined || segments.length < 2) return undefined
    const row = await this.#view.db.read(findFileAsOf(this.#state, toFolder(segments.slice(0, -1)), name))
    if (row === undefined) return undefined
    return makeNode(toFileItem(row), {
      texts: (after) => this.#units(after === undefined ? [row] : []),
      read: () => this.#read(row),
    })
  }

  #folder(folder: string): VfsNode {
    return makeNode(toFolderItem(folder), {
      list: (after, limit) => this.#list(folder, after, limit),
      walk: (after) => this.#walk(folder, after),
      texts: (after) => this.#units(this.#filesFrom(folder, after)),
    })
  }

  async #findFirst(folder: string): Promise<WorkspaceFile | undefined> {
    const { first, past } = getSubtreeBounds(folder)
    return (await this.#view.db.read(listWorkspaceFiles(this.#state, { after: [first, ''], before: [past, ''] }, 1)))[0]
  }

  async #list(folder: string, after: CursorPosition | undefined, limit: number): Promise<VfsEntryPage> {
    const entries: VfsEntry[] = []
    const inFiles = after !== undefined && getCursorInteger(after, 0) === FILE_POSITION
    if (!inFiles) {
      for await (const child of this.#listChildFolders(folder, after)) {
        if (entries.length === limit) return { entries, more: true }
        entries.push({
          item: toFolderItem(child.folder),
          after: [FOLDER_POSITION, ...toCursorKey(child.folder, child.row)],
        })
        await this.#view.clock.yieldIfDue()
      }
    }
    const start: WorkspaceFilePosition = inFiles
      ? await this.#findPosition(after, 1, ([position]) => position === folder)
      : [folder, '']
    for await (const row of this.#rows(start, [folder, AFTER_ALL_TEXTS])) {
      if (entries.length === limit) return { entries, more: true }
      entries.push({ item: toFileItem(row), after: [FILE_POSITION, ...toCursorKey(row.folder + row.base, row)] })
    }
    return { entries, more: false }
  }

  /**
   * Each child is found as the next file after the previous folder, so the cost of a page depends only on its entries.
   */
  async *#listChildFolders(
    parent: string,
    after: CursorPosition | undefined,
  ): AsyncGenerator<{ folder: string; row: WorkspaceFile }> {
    const { past } = getSubtreeBounds(parent)
    let position: WorkspaceFilePosition = [parent, AFTER_ALL_TEXTS]
    if (after !== undefined) {
      const [known, base] = await this.#findPosition(after, 1, ([folder]) => folder.startsWith(parent))
      position = [getSubtreeBounds(getChildFolder(parent, known + (base === '' ? '' : FOLDER_END))).past, '']
    }
    for (;;) {
      const [row] = await this.#view.db.read(
        listWorkspaceFiles(this.#state, { after: position, before: [past, ''] }, 1),
      )
      if (row === undefined) return
      const folder = getChildFolder(parent, row.folder)
      yield { folder, row }
      position = [getSubtreeBounds(folder).past, '']
    }
  }

  /** Files folder by folder, each folder before its first file. */
  async *#walk(folder: string, after: CursorPosition | undefined): AsyncGenerator<WalkStep> {
    let yieldedFolders = after === undefined ? 0 : getCursorInteger(after, 2)
    const start = await this.#toStartKey(folder, after)
    let previous = after === undefined || isBeforeFirstFile(after) ? folder : start[0]
    let position: CursorPosition = after ?? ['', 0, 0]
    for await (const row of this.#files(start, folder)) {
      for (const newFolder of listOpenedFolders(previous, row.folder).slice(yieldedFolders)) {
        yieldedFolders += 1
        position = [...position.slice(0, 2), yieldedFolders]
        yield { item: toFolderItem(newFolder), after: position }
      }
      yieldedFolders = 0
      previous = row.folder
      position = [...toCursorKey(row.folder + row.base, row), 0]
      yield { item: toFileItem(row), after: position }
      await this.#view.clock.yieldIfDue()
    }
  }

  #files(start: WorkspaceFilePosition, folder: string): AsyncIterable<WorkspaceFile> {
    return this.#rows(start, [getSubtreeBounds(folder).past, ''])
  }

  async *#filesFrom(folder: string, after: CursorPosition | undefined): AsyncGenerator<WorkspaceFile> {
    yield* this.#files(await this.#toStartKey(folder, after), folder)
  }

  async *#rows(after: WorkspaceFilePosition, before: WorkspaceFilePosition): AsyncGenerator<WorkspaceFile> {
    for (let position = after; ; ) {
      const rows = await this.#view.db.read(listWorkspaceFiles(this.#state, { after: position, before }, BATCH_ROWS))
      for (const row of rows) if (!isDamaged(row)) yield row
      const last = rows[rows.length - 1]
      if (last === undefined || rows.length < BATCH_ROWS) return
      position = [last.folder, last.base]
    }
  }

  async *#units(rows: Iterable<WorkspaceFile> | AsyncIterable<WorkspaceFile>): AsyncGenerator<TextUnit> {
    for await (const row of rows) {
      const item = toFileItem(row)
      const read = await this.#read(row).catch(unlessDamagedError)
      if (read === undefined) continue
      const { text } = read
      yield {
        id: row.id,
        text,
        after: [...toCursorKey(row.folder + row.base, row), 0],
        describe: (startOffset, endOffset) =>
          Promise.resolve({
            kind: 'segment',
            path: item.path,
            startOffset,
            endOffset,
            segmentId: `${row.id}:${startOffset}-${endOffset}`,
            metadata: { fileId: row.id, workspace: toSegments(row)[0], version: row.version },
          }),
      }
    }
  }

  #read(row: WorkspaceFile): Promise<ResourceContent> {
    return readWorkspaceObject(this.#objects, row)
  }

  async #toStartKey(folder: string, after: CursorPosition | undefined): Promise<WorkspaceFilePosition> {
    if (after === undefined || isBeforeFirstFile(after)) return [folder, '']
    return this.#findPosition(after, 0, ([position]) => position.startsWith(folder))
  }

  /** The position in a cursor, given by path, or by row where the path is long. */
  async #findPosition(
    after: CursorPosition,
    index: number,
    isExpected: (position: WorkspaceFilePosition) => boolean,
  ): Promise<WorkspaceFilePosition> {
    const name = getCursorText(after, index)
    const slash = name.lastIndexOf('/')
    const position =
      name === ''
        ? await this.#view.db.read(findFilePosition(this.#state.spaceKey, getCursorInteger(after, index + 1)))
        : ([name.slice(0, slash + 1).replaceAll('/', FOLDER_END), name.slice(slash + 1)] as const)
    if (position === undefined || !isExpected(position)) throw createInvalidCursorError()
    return position
  }
}

/**
 * The text of a stored file. @throws KsError `data-damaged` when its bytes are missing or differ; errors of the disk
 */
export async function readWorkspaceObject(
  objects: ObjectBytes,
  file: { object_key: string; content_type: string },
): Promise<ResourceContent> {
  try {
    const text = (await objects.bytes(file.object_key)).toString()
    return { text, contentType: `${file.content_type}; charset=utf-8` }
  } catch (error) {
    if (error instanceof KsError) throw error
    throw (
      toDiskError(error) ??
      new KsError('data-damaged', 'the bytes of a workspace file are missing: `ks fsck` lists it', { cause: error })
    )
  }
}

/** Name and row of an entry; a cursor limits the length of names. */
function toCursorKey(path: string, row: WorkspaceFile): [name: string, key: number] {
  return [toCursorName(path.replaceAll(FOLDER_END, '/')), row.key]
}

/** Whether a walk's cursor is before the first file, among the folders that lead to it. */
function isBeforeFirstFile(after: CursorPosition): boolean {
  return getCursorText(after, 0) === '' && getCursorInteger(after, 1) === 0
}
