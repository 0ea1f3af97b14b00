import type { PreparedDocument } from '../compiled.js'
import { type Read, sql, type Write } from '../program.js'

/** The packed content of a version. */
export type PackedVersion = Pick<PreparedDocument, 'artifact' | 'outline' | 'items'>

/** Maximum size of a column inside the row: every change of a row writes all of it. */
const MAX_IN_ROW_BYTES = 256 * 1024
/** Size of one part; writing it takes some milliseconds. */
const PART_BYTES = 256 * 1024

const PART_NAMES = ['artifact', 'outline', 'items'] as const
const EMPTY = new Uint8Array()

/** A piece of a column that does not fit into a version's row. */
export interface VersionPart {
  part: (typeof PART_NAMES)[number]
  index: number
  bytes: Uint8Array
}

/** Splits off the columns that do not fit into the row; they are empty in the row. */
export function splitParts(packed: PackedVersion): { row: PackedVersion; parts: VersionPart[] } {
  const row: PackedVersion = { artifact: packed.artifact, outline: packed.outline, items: packed.items }
  const parts: VersionPart[] = []
  for (const part of PART_NAMES) {
    const bytes = packed[part]
    if (bytes.length <= MAX_IN_ROW_BYTES) continue
    row[part] = EMPTY
    for (let start = 0; start < bytes.length; start += PART_BYTES)
      parts.push({ part, index: start / PART_BYTES, bytes: bytes.subarray(start, start + PART_BYTES) })
  }
  return { row, parts }
}

/** Stores parts of a version, inside the caller's transaction. */
export function* insertVersionParts(spaceKey: number, versionKey: number, parts: readonly VersionPart[]): Write<void> {
  yield* sql.runEach(
    'INSERT INTO version_parts (version_key, part, place, space_key, bytes) VALUES (?, ?, ?, ?, ?)',
    parts.map(({ part, index, bytes }) => [versionKey, part, index, spaceKey, bytes]),
  )
}

/** Replaces the packed content of a version, inside the caller's transaction. */
export function* replacePackedVersion(spaceKey: number, versionKey: number, packed: PackedVersion): Write<void> {
  const { row, parts } = splitParts(packed)
  yield* sql.run('DELETE FROM version_parts WHERE version_key = ?', [versionKey])
  yield* sql.run('UPDATE versions SET artifact = ?, outline = ?, items = ? WHERE key = ?', [
    row.artifact,
    row.outline,
    row.items,
    versionKey,
  ])
  yield* insertVersionParts(spaceKey, versionKey, parts)
}

/** A column of a version with the parts outside its row; a missing part makes it shorter. */
export function* loadPackedColumn(versionKey: number, part: VersionPart['part'], inRow: Uint8Array): Read<Uint8Array> {
  if (inRow.length > 0) return inRow
  const parts = yield* sql.all<{ bytes: Uint8Array }>(
    'SELECT bytes FROM version_parts WHERE version_key = ? AND part = ? ORDER BY place',
    [versionKey, part],
  )
  return parts.length === 0 ? inRow : Buffer.concat(parts.map(({ bytes }) => bytes))
}

/** A row of `versions` with all its parts. */
export function* loadPackedVersion<T extends PackedVersion & { key: number }>(row: T): Read<T> {
  return {
    ...row,
    artifact: yield* loadPackedColumn(row.key, 'artifact', row.artifact),
    outline: yield* loadPackedColumn(row.key, 'outline', row.outline),
    items: yield* loadPackedColumn(row.key, 'items', row.items),
  }
}
