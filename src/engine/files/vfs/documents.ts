import { createInvalidCursorError } from '../../base/cursor.js'
import { AFTER_ALL_TEXTS, getFolderUpperBound } from '../../base/folders.js'
import { isDamaged } from '../../store/guarded-rows.js'
import type { Read } from '../../store/program.js'
import { unlessDamaged } from '../../store/readable.js'
import {
  type DocumentEntry,
  type FileEntry,
  findDocumentLocation,
  listDocumentsByKey,
  listDocumentsByName,
  listDocumentsOfSources,
  listSourceFiles,
  type NamePosition,
  type PositionRange,
  type SourcePosition,
} from '../rows/vfs/documents.js'
import type { VfsView } from './view.js'

/** maximum rows of one batch, which takes less than 2 ms */
const MAX_BATCH_ROWS = 500
/** growth of batches after each full one */
const BATCH_GROWTH = 4

export interface DocumentRange<Key> extends PositionRange<Key> {
  /** expected number of rows, as the size of the first batch */
  expect?: number
}

/** Visible documents of a source (null: uploads) between two keys, in order. */
export function listVisibleInSource(
  view: VfsView,
  source: string | null,
  range: DocumentRange<SourcePosition>,
): AsyncGenerator<FileEntry> {
  return listVisible(view, range, toSourceKey, (between, size) => listSourceFiles(view, source, between, size))
}

/** Visible documents of the space between two names, in order. */
export function listVisibleByName(view: VfsView, range: DocumentRange<NamePosition>): AsyncGenerator<DocumentEntry> {
  return listVisible(view, range, toNameKey, (between, size) => listDocumentsByName(view, between, size))
}

/** Visible documents by row key, in the order of the keys. */
export function* findVisibleByKey(view: VfsView, keys: readonly number[]): Read<DocumentEntry[]> {
  return (yield* listDocumentsByKey(view, keys)).filter((row) => isVisible(view, row) && !isDamaged(row))
}

/** The first source after `source` that has a visible document; an empty text sorts before all. */
export async function findSourceAfter(view: VfsView, source: string): Promise<string | undefined> {
  let position: readonly [string, ...SourcePosition] = [source, AFTER_ALL_TEXTS, '', '']
  for (let size = 1; ; size = Math.min(size * BATCH_GROWTH, MAX_BATCH_ROWS)) {
    const rows = await view.db.read(listDocumentsOfSources(view, position, size))
    const found = rows.find((row) => isVisible(view, row))
    if (found !== undefined) return found.source_id ?? undefined
    const last = rows[rows.length - 1]
    if (last === undefined || rows.length < size) return undefined
    position = [last.source_id ?? '', ...toSourceKey(last, AFTER_ALL_TEXTS)]
    await view.clock.yieldIfDue()
  }
}

function isVisible({ preview, denied }: VfsView, row: DocumentEntry): boolean {
  return (preview || row.version_key !== null) && (row.source_id === null || !denied.includes(row.source_id))
}

async function* listVisible<Key, Row extends DocumentEntry>(
  view: VfsView,
  range: DocumentRange<Key>,
  keyOf: (row: DocumentEntry, instead: string) => Key,
  rowsIn: (between: PositionRange<Key>, size: number) => Read<Row[]>,
): AsyncGenerator<Row> {
  let { after, before } = range
  const backwards = range.backwards === true ? ({ backwards: true } as const) : {}
  for (let size = Math.min(range.expect ?? 1, MAX_BATCH_ROWS); ; size = Math.min(size * BATCH_GROWTH, MAX_BATCH_ROWS)) {
    const rows = await view.db.read(rowsIn({ after, before, ...backwards }, size))
    for (const row of rows) if (isVisible(view, row) && !isDamaged(row)) yield row
    const last = rows[rows.length - 1]
    if (last === undefined || rows.length < size) return
    if (range.backwards) before = keyOf(last, '')
    else after = keyOf(last, AFTER_ALL_TEXTS)
    await view.clock.yieldIfDue()
  }
}

/** @param instead replaces a damaged id: sorts after all others in the direction of the walk */
export function toSourceKey(row: DocumentEntry, instead: string): SourcePosition {
  return [row.folder, row.base, unlessDamaged(() => row.id) ?? instead]
}

export function toNameKey(row: DocumentEntry, instead: string): NamePosition {
  return [row.base, unlessDamaged(() => row.id) ?? instead]
}

/** Keys just before everything in a folder and below it, and just after. */
export function getSourceSubtreeBounds(folder: string): { after: SourcePosition; before: SourcePosition } {
  return { after: [folder, '', ''], before: [getFolderUpperBound(folder), '', ''] }
}

/** Exclusive bounds that contain only one id. */
export function getIdBounds(id: string): { after: string; before: string } {
  const last = id.length - 1
  return { after: id.slice(0, last) + String.fromCharCode(id.charCodeAt(last) - 1) + AFTER_ALL_TEXTS, before: `${id}0` }
}

/** The folder and name of a document that a cursor refers to. @throws KsError `invalid-cursor` when it was deleted */
export function* findDocumentPosition(view: VfsView, id: string): Read<Pick<DocumentEntry, 'folder' | 'base'>> {
  const row = yield* findDocumentLocation(view.space, id)
  if (row === undefined) throw createInvalidCursorError()
  return row
}
