import { AFTER_ALL_TEXTS, FOLDER_END, getChildFolder } from '../../base/folders.js'
import type { Read } from '../../store/program.js'
import type { FileEntry, SourcePosition } from '../rows/vfs/documents.js'
import { findDocumentPosition, getSourceSubtreeBounds, listVisibleInSource } from './documents.js'
import { toCursorName } from './names.js'
import { type CursorPosition, getCursorInteger, getCursorText, type VfsEntry, type VfsEntryPage } from './namespace.js'
import { makeFileItem, makeFolderItem } from './source-items.js'
import type { VfsView } from './view.js'

/** First part of a position in a folder: folders sort before files. */
const FOLDER_POSITION = 0
const FILE_POSITION = 1

/**
 * Lists one page of a folder. Folders are not stored: each is found as the next document after the previous folder, by
 * one index seek, so the cost of a page depends only on its entries.
 */
export async function listSourceFolder(
  view: VfsView,
  { source, folder }: { source: string | null; folder: string },
  after: CursorPosition | undefined,
  limit: number,
): Promise<VfsEntryPage> {
  const entries: VfsEntry[] = []
  const neededCount = limit + 1
  if (after === undefined || getCursorInteger(after, 0) === FOLDER_POSITION) {
    for await (const child of listChildFolders(view, source, folder, after)) {
      entries.push({ item: makeFolderItem(source, child.folder), after: toFolderPosition(folder, child) })
      if (entries.length === neededCount) return { entries: entries.slice(0, limit), more: true }
    }
  }
  const start =
    after !== undefined && getCursorInteger(after, 0) === FILE_POSITION
      ? await view.db.read(findFileStart(view, folder, after))
      : undefined
  let before: FileEntry | undefined
  for await (const row of listVisibleInSource(view, source, {
    after: start ?? [folder, '', ''],
    before: [folder, AFTER_ALL_TEXTS, ''],
    expect: neededCount - entries.length,
  })) {
    if (entries.length === limit) return { entries, more: true }
    entries.push({
      item: await makeFileItem(view, row, before),
      after: [FILE_POSITION, toCursorName(row.base), row.id],
    })
    before = row
    if (view.clock.isYieldDue) await view.clock.yieldIfDue()
  }
  return { entries, more: false }
}

interface ChildFolder {
  folder: string
  /** a document in it or below */
  document: FileEntry
}

async function* listChildFolders(
  view: VfsView,
  source: string | null,
  parent: string,
  after: CursorPosition | undefined,
): AsyncGenerator<ChildFolder> {
  const { before } = getSourceSubtreeBounds(parent)
  let position: SourcePosition = [parent, AFTER_ALL_TEXTS, AFTER_ALL_TEXTS]
  if (after !== undefined)
    position = getSourceSubtreeBounds(
      getChildFolder(parent, await view.db.read(findFolderStart(view, parent, after))),
    ).before
  for (;;) {
    const document = await takeFirstFile(listVisibleInSource(view, source, { after: position, before }))
    if (document === undefined) return
    const folder = getChildFolder(parent, document.folder)
    yield { folder, document }
    position = getSourceSubtreeBounds(folder).before
    if (view.clock.isYieldDue) await view.clock.yieldIfDue()
  }
}

function toFolderPosition(parent: string, { folder, document }: ChildFolder): CursorPosition {
  const name = toCursorName(folder.slice(parent.length, -1))
  return name === '' ? [FOLDER_POSITION, '', document.id] : [FOLDER_POSITION, name]
}

function* findFolderStart(view: VfsView, parent: string, after: CursorPosition): Read<string> {
  const name = getCursorText(after, 1)
  return name === '' ? (yield* findDocumentPosition(view, getCursorText(after, 2))).folder : parent + name + FOLDER_END
}

function* findFileStart(view: VfsView, folder: string, after: CursorPosition): Read<SourcePosition> {
  const base = getCursorText(after, 1)
  const id = getCursorText(after, 2)
  return [folder, base === '' ? (yield* findDocumentPosition(view, id)).base : base, id]
}

async function takeFirstFile(rows: AsyncIterable<FileEntry>): Promise<FileEntry | undefined> {
  for await (const row of rows) return row
  return undefined
}
