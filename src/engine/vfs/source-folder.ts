import { childFolder, FOLDER_END, LAST } from '../base/folders.js'
import type { FileEntry, SourceKey } from '../rows/vfs/documents.js'
import type { Read } from '../storage/program.js'
import { documentsInSource, placeOfDocument, subtreeOf } from './documents.js'
import { cursorName } from './names.js'
import { type After, type Entry, type EntryPage, integerAt, textAt } from './namespace.js'
import { fileItem, folderItem } from './source-items.js'
import type { View } from './view.js'

/** First part of a position in a folder: folders sort before files. */
const FOLDERS = 0
const FILES = 1

/**
 * Lists one page of a folder. Folders are not stored: each is found as the next document after the previous folder, by
 * one index seek, so the cost of a page depends only on its entries.
 */
export async function listFolder(
  view: View,
  source: string | null,
  folder: string,
  after: After | undefined,
  limit: number,
): Promise<EntryPage> {
  const entries: Entry[] = []
  const wanted = limit + 1
  if (after === undefined || integerAt(after, 0) === FOLDERS) {
    for await (const child of foldersIn(view, source, folder, after)) {
      entries.push({ item: folderItem(source, child.folder), after: placeOfFolder(folder, child) })
      if (entries.length === wanted) return { entries: entries.slice(0, limit), more: true }
    }
  }
  const start =
    after !== undefined && integerAt(after, 0) === FILES
      ? await view.db.read(fileStart(view, folder, after))
      : undefined
  let before: FileEntry | undefined
  for await (const row of documentsInSource(view, source, {
    after: start ?? [folder, '', ''],
    before: [folder, LAST, ''],
    expect: wanted - entries.length,
  })) {
    if (entries.length === limit) return { entries, more: true }
    entries.push({ item: await fileItem(view, row, before), after: [FILES, cursorName(row.base), row.id] })
    before = row
    if (view.clock.due) await view.clock.turn()
  }
  return { entries, more: false }
}

interface FoundFolder {
  folder: string
  /** a document in it or below */
  document: FileEntry
}

async function* foldersIn(
  view: View,
  source: string | null,
  parent: string,
  after: After | undefined,
): AsyncGenerator<FoundFolder> {
  const { before } = subtreeOf(parent)
  let place: SourceKey = [parent, LAST, LAST]
  if (after !== undefined)
    place = subtreeOf(childFolder(parent, await view.db.read(folderStart(view, parent, after)))).before
  for (;;) {
    const document = await first(documentsInSource(view, source, { after: place, before }))
    if (document === undefined) return
    const folder = childFolder(parent, document.folder)
    yield { folder, document }
    place = subtreeOf(folder).before
    if (view.clock.due) await view.clock.turn()
  }
}

function placeOfFolder(parent: string, { folder, document }: FoundFolder): After {
  const name = cursorName(folder.slice(parent.length, -1))
  return name === '' ? [FOLDERS, '', document.id] : [FOLDERS, name]
}

function* folderStart(view: View, parent: string, after: After): Read<string> {
  const name = textAt(after, 1)
  return name === '' ? (yield* placeOfDocument(view, textAt(after, 2))).folder : parent + name + FOLDER_END
}

function* fileStart(view: View, folder: string, after: After): Read<SourceKey> {
  const base = textAt(after, 1)
  const id = textAt(after, 2)
  return [folder, base === '' ? (yield* placeOfDocument(view, id)).base : base, id]
}

async function first(rows: AsyncIterable<FileEntry>): Promise<FileEntry | undefined> {
  for await (const row of rows) return row
  return undefined
}
