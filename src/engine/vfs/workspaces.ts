import { KsError } from '../../contract/errors.js'
import { diskError } from '../../local/disk-error.js'
import { brokenCursor } from '../base/cursor.js'
import { childFolder, FOLDER_END, foldersOpened, LAST } from '../base/folders.js'
import {
  type FileKey,
  fileAt,
  fileItem,
  filesBetween,
  folderItem,
  folderOf,
  placeOfKey,
  segmentsOf,
  subtreeOf,
  type WorkspaceFile,
} from '../rows/workspaces.js'
import { isDamaged } from '../storage/guarded-rows.js'
import { unlessDamagedError } from '../storage/readable.js'
import { cursorName } from './names.js'
import {
  type After,
  type Content,
  type Entry,
  type EntryPage,
  integerAt,
  type Place,
  placeOf,
  type Step,
  type TextUnit,
  textAt,
} from './namespace.js'
import type { View } from './view.js'

/** rows of one batch */
const BATCH = 200
/** First part of a position in a folder: folders sort before files. */
const FOLDERS = 0
const FILES = 1

/** Source of the bytes of objects. */
export interface ObjectBytes {
  bytes(key: string): Promise<Buffer>
}

/** Files that agents wrote, as of one change. Folders are not stored: they follow from the files. */
export class Workspaces {
  readonly #view: View
  readonly #objects: ObjectBytes
  readonly #at: { spaceKey: number; seq: number }

  constructor(view: View, objects: ObjectBytes) {
    this.#view = view
    this.#objects = objects
    this.#at = { spaceKey: view.space.key, seq: view.change }
  }

  async resolve(segments: readonly string[]): Promise<Place | undefined> {
    const folder = folderOf(segments)
    if (folder === '' || (await this.#firstIn(folder)) !== undefined) return this.#folder(folder)
    const name = segments[segments.length - 1]
    if (name === undefined || segments.length < 2) return undefined
    const row = await this.#view.db.read(fileAt(this.#at, folderOf(segments.slice(0, -1)), name))
    if (row === undefined) return undefined
    return placeOf(fileItem(row), {
      texts: (after) => this.#units(after === undefined ? [row] : []),
      read: () => this.#read(row),
    })
  }

  #folder(folder: string): Place {
    return placeOf(folderItem(folder), {
      list: (after, limit) => this.#list(folder, after, limit),
      walk: (after) => this.#walk(folder, after),
      texts: (after) => this.#units(this.#filesFrom(folder, after)),
    })
  }

  async #firstIn(folder: string): Promise<WorkspaceFile | undefined> {
    const { first, past } = subtreeOf(folder)
    return (await this.#view.db.read(filesBetween(this.#at, { after: [first, ''], before: [past, ''] }, 1)))[0]
  }

  async #list(folder: string, after: After | undefined, limit: number): Promise<EntryPage> {
    const entries: Entry[] = []
    const inFiles = after !== undefined && integerAt(after, 0) === FILES
    if (!inFiles) {
      for await (const child of this.#foldersIn(folder, after)) {
        if (entries.length === limit) return { entries, more: true }
        entries.push({ item: folderItem(child.folder), after: [FOLDERS, ...cursorOf(child.folder, child.row)] })
        await this.#view.clock.turn()
      }
    }
    const start: FileKey = inFiles ? await this.#placeAt(after, 1, ([place]) => place === folder) : [folder, '']
    for await (const row of this.#rows(start, [folder, LAST])) {
      if (entries.length === limit) return { entries, more: true }
      entries.push({ item: fileItem(row), after: [FILES, ...cursorOf(row.folder + row.base, row)] })
    }
    return { entries, more: false }
  }

  /**
   * Each child is found as the next file after the previous folder, so the cost of a page depends only on its entries.
   */
  async *#foldersIn(parent: string, after: After | undefined): AsyncGenerator<{ folder: string; row: WorkspaceFile }> {
    const { past } = subtreeOf(parent)
    let place: FileKey = [parent, LAST]
    if (after !== undefined) {
      const [known, base] = await this.#placeAt(after, 1, ([folder]) => folder.startsWith(parent))
      place = [subtreeOf(childFolder(parent, known + (base === '' ? '' : FOLDER_END))).past, '']
    }
    for (;;) {
      const [row] = await this.#view.db.read(filesBetween(this.#at, { after: place, before: [past, ''] }, 1))
      if (row === undefined) return
      const folder = childFolder(parent, row.folder)
      yield { folder, row }
      place = [subtreeOf(folder).past, '']
    }
  }

  /** Files folder by folder, each folder before its first file. */
  async *#walk(folder: string, after: After | undefined): AsyncGenerator<Step> {
    let announced = after === undefined ? 0 : integerAt(after, 2)
    const start = await this.#startOf(folder, after)
    let previous = after === undefined || isStart(after) ? folder : start[0]
    let place: After = after ?? ['', 0, 0]
    for await (const row of this.#files(start, folder)) {
      for (const opened of foldersOpened(previous, row.folder).slice(announced)) {
        announced += 1
        place = [...place.slice(0, 2), announced]
        yield { item: folderItem(opened), after: place }
      }
      announced = 0
      previous = row.folder
      place = [...cursorOf(row.folder + row.base, row), 0]
      yield { item: fileItem(row), after: place }
      await this.#view.clock.turn()
    }
  }

  #files(start: FileKey, folder: string): AsyncIterable<WorkspaceFile> {
    return this.#rows(start, [subtreeOf(folder).past, ''])
  }

  async *#filesFrom(folder: string, after: After | undefined): AsyncGenerator<WorkspaceFile> {
    yield* this.#files(await this.#startOf(folder, after), folder)
  }

  async *#rows(after: FileKey, before: FileKey): AsyncGenerator<WorkspaceFile> {
    for (let place = after; ; ) {
      const rows = await this.#view.db.read(filesBetween(this.#at, { after: place, before }, BATCH))
      for (const row of rows) if (!isDamaged(row)) yield row
      const last = rows[rows.length - 1]
      if (last === undefined || rows.length < BATCH) return
      place = [last.folder, last.base]
    }
  }

  async *#units(rows: Iterable<WorkspaceFile> | AsyncIterable<WorkspaceFile>): AsyncGenerator<TextUnit> {
    for await (const row of rows) {
      const item = fileItem(row)
      const read = await this.#read(row).catch(unlessDamagedError)
      if (read === undefined) continue
      const { text } = read
      yield {
        id: row.id,
        text,
        after: [...cursorOf(row.folder + row.base, row), 0],
        describe: (startOffset, endOffset) =>
          Promise.resolve({
            kind: 'segment',
            path: item.path,
            startOffset,
            endOffset,
            segmentId: `${row.id}:${startOffset}-${endOffset}`,
            metadata: { fileId: row.id, workspace: segmentsOf(row)[0], version: row.version },
          }),
      }
    }
  }

  #read(row: WorkspaceFile): Promise<Content> {
    return readObject(this.#objects, row)
  }

  async #startOf(folder: string, after: After | undefined): Promise<FileKey> {
    if (after === undefined || isStart(after)) return [folder, '']
    return this.#placeAt(after, 0, ([place]) => place.startsWith(folder))
  }

  /** The position in a cursor, given by path, or by row where the path is long. */
  async #placeAt(after: After, index: number, fits: (place: FileKey) => boolean): Promise<FileKey> {
    const name = textAt(after, index)
    const at = name.lastIndexOf('/')
    const place =
      name === ''
        ? await this.#view.db.read(placeOfKey(this.#at.spaceKey, integerAt(after, index + 1)))
        : ([name.slice(0, at + 1).replaceAll('/', FOLDER_END), name.slice(at + 1)] as const)
    if (place === undefined || !fits(place)) throw brokenCursor()
    return place
  }
}

/**
 * The text of a stored file. @throws KsError `data-damaged` when its bytes are missing or differ; errors of the disk
 */
export async function readObject(
  objects: ObjectBytes,
  file: { object_key: string; content_type: string },
): Promise<Content> {
  try {
    const text = (await objects.bytes(file.object_key)).toString()
    return { text, contentType: `${file.content_type}; charset=utf-8` }
  } catch (error) {
    if (error instanceof KsError) throw error
    throw (
      diskError(error) ??
      new KsError('data-damaged', 'the bytes of a workspace file are missing: `ks fsck` lists it', { cause: error })
    )
  }
}

/** Name and row of an entry; a cursor limits the length of names. */
function cursorOf(path: string, row: WorkspaceFile): [name: string, key: number] {
  return [cursorName(path.replaceAll(FOLDER_END, '/')), row.key]
}

/** Whether a walk's cursor is before the first file, among the folders that lead to it. */
function isStart(after: After): boolean {
  return textAt(after, 0) === '' && integerAt(after, 1) === 0
}
