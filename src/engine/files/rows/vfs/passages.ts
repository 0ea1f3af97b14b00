import { type Read, sql } from '../../../store/program.js'
import { loadPackedColumn } from '../../../store/rows/version-parts.js'

/** A passage without its text. */
export interface NodeEntry {
  id: string
  ordinal: number
  title: string
  section: string
  outline_node: string
  start_offset: number
  end_offset: number
  page: number | null
  kind: string
}

export function* listNodeEntriesAfter(versionKey: number, ordinal: number, limit: number): Read<NodeEntry[]> {
  return yield* sql.all<NodeEntry>(
    `SELECT id, ordinal, title, section, outline_node, start_offset, end_offset, page, kind FROM nodes
     WHERE version_key = ? AND ordinal > ? ORDER BY ordinal LIMIT +?`,
    [versionKey, ordinal, limit],
  )
}

export interface NodeText {
  id: string
  ordinal: number
  title: string
  text: string
  row_hash: Uint8Array
  start_offset: number
  end_offset: number
}

export function* listNodeTextsAfter(versionKey: number, ordinal: number, limit: number): Read<NodeText[]> {
  return yield* sql.all<NodeText>(
    `SELECT id, ordinal, title, text, start_offset, end_offset, row_hash FROM nodes
     WHERE version_key = ? AND ordinal > ? ORDER BY ordinal LIMIT +?`,
    [versionKey, ordinal, limit],
  )
}

export function* findOutlineBytes(versionKey: number): Read<Uint8Array | undefined> {
  const row = yield* sql.get<{ outline: Uint8Array }>('SELECT outline FROM versions WHERE key = ?', [versionKey])
  return row === undefined ? undefined : yield* loadPackedColumn(versionKey, 'outline', row.outline)
}

export function* findArtifactBytes(versionKey: number): Read<Uint8Array | undefined> {
  const row = yield* sql.get<{ artifact: Uint8Array }>('SELECT artifact FROM versions WHERE key = ?', [versionKey])
  return row === undefined ? undefined : yield* loadPackedColumn(versionKey, 'artifact', row.artifact)
}
