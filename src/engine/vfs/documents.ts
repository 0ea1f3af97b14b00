import { brokenCursor } from '../base/cursor.js'
import { LAST, pastOf } from '../base/folders.js'
import {
  type Between,
  type DocumentEntry,
  documentsBetween,
  documentsByKey,
  documentsOfSources,
  type FileEntry,
  filesBetween,
  type NameKey,
  placeOf,
  type SourceKey,
} from '../rows/vfs/documents.js'
import { isDamaged } from '../storage/guarded-rows.js'
import type { Read } from '../storage/program.js'
import { unlessDamaged } from '../storage/readable.js'
import type { View } from './view.js'

/** maximum rows of one batch, which takes less than 2 ms */
const BATCH = 500
/** growth of batches after each full one */
const GROWTH = 4

export interface Range<Key> extends Between<Key> {
  /** expected number of rows, as the size of the first batch */
  expect?: number
}

/** Visible documents of a source (null: uploads) between two keys, in order. */
export function documentsInSource(
  view: View,
  source: string | null,
  range: Range<SourceKey>,
): AsyncGenerator<FileEntry> {
  return visible(view, range, sourceKey, (between, size) => filesBetween(view, source, between, size))
}

/** Visible documents of the space between two names, in order. */
export function documentsByName(view: View, range: Range<NameKey>): AsyncGenerator<DocumentEntry> {
  return visible(view, range, nameKey, (between, size) => documentsBetween(view, between, size))
}

/** Visible documents by row key, in the order of the keys. */
export function* visibleByKey(view: View, keys: readonly number[]): Read<DocumentEntry[]> {
  return (yield* documentsByKey(view, keys)).filter((row) => isVisible(view, row) && !isDamaged(row))
}

/** The first source after `source` that has a visible document; an empty text sorts before all. */
export async function sourceAfter(view: View, source: string): Promise<string | undefined> {
  let place: readonly [string, ...SourceKey] = [source, LAST, '', '']
  for (let size = 1; ; size = Math.min(size * GROWTH, BATCH)) {
    const rows = await view.db.read(documentsOfSources(view, place, size))
    const found = rows.find((row) => isVisible(view, row))
    if (found !== undefined) return found.source_id ?? undefined
    const last = rows[rows.length - 1]
    if (last === undefined || rows.length < size) return undefined
    place = [last.source_id ?? '', ...sourceKey(last, LAST)]
    await view.clock.turn()
  }
}

function isVisible({ preview, denied }: View, row: DocumentEntry): boolean {
  return (preview || row.version_key !== null) && (row.source_id === null || !denied.includes(row.source_id))
}

async function* visible<Key, Row extends DocumentEntry>(
  view: View,
  range: Range<Key>,
  keyOf: (row: DocumentEntry, instead: string) => Key,
  rowsIn: (between: Between<Key>, size: number) => Read<Row[]>,
): AsyncGenerator<Row> {
  let { after, before } = range
  const backwards = range.backwards === true ? ({ backwards: true } as const) : {}
  for (let size = Math.min(range.expect ?? 1, BATCH); ; size = Math.min(size * GROWTH, BATCH)) {
    const rows = await view.db.read(rowsIn({ after, before, ...backwards }, size))
    for (const row of rows) if (isVisible(view, row) && !isDamaged(row)) yield row
    const last = rows[rows.length - 1]
    if (last === undefined || rows.length < size) return
    if (range.backwards) before = keyOf(last, '')
    else after = keyOf(last, LAST)
    await view.clock.turn()
  }
}

/** @param instead replaces a damaged id: sorts after all others in the direction of the walk */
export function sourceKey(row: DocumentEntry, instead: string): SourceKey {
  return [row.folder, row.base, unlessDamaged(() => row.id) ?? instead]
}

export function nameKey(row: DocumentEntry, instead: string): NameKey {
  return [row.base, unlessDamaged(() => row.id) ?? instead]
}

/** Keys just before everything in a folder and below it, and just after. */
export function subtreeOf(folder: string): { after: SourceKey; before: SourceKey } {
  return { after: [folder, '', ''], before: [pastOf(folder), '', ''] }
}

/** Exclusive bounds that contain only one id. */
export function boundsOf(id: string): { after: string; before: string } {
  const last = id.length - 1
  return { after: id.slice(0, last) + String.fromCharCode(id.charCodeAt(last) - 1) + LAST, before: `${id}0` }
}

/** The folder and name of a document that a cursor refers to. @throws KsError `invalid-cursor` when it was deleted */
export function* placeOfDocument(view: View, id: string): Read<Pick<DocumentEntry, 'folder' | 'base'>> {
  const row = yield* placeOf(view.space, id)
  if (row === undefined) throw brokenCursor()
  return row
}
