import { brokenCursor } from '../base/cursor.js'
import { LAST, pastOf } from '../base/folders.js'
import { packedOf } from '../rows/version-parts.js'
import { isDamaged } from '../storage/guarded-rows.js'
import { type Read, sql } from '../storage/program.js'
import { unlessDamaged } from '../storage/readable.js'
import type { View } from './view.js'

// `LIMIT +?`, not `LIMIT ?`: SQLite looks at a bare parameter when it plans, and then plans anew at every run, which takes
// ten times as long as a lookup.

/** A document as listings need it, with the version that the view sees. */
export interface DocumentEntry {
  key: number
  id: string
  source_id: string | null
  filename: string
  /** the name as paths have it */
  path_name: string
  /** folders, each closed by U+0001; empty at the top */
  folder: string
  /** name within its folder */
  base: string
  mime_type: string
  size_bytes: number
  parser_status: 'pending' | 'parsed' | 'failed'
  metadata: string
  error: string | null
  created_at: number
  updated_at: number
  version: number
  /** null when no version is visible: shown in previews only */
  version_key: number | null
}

export interface FileEntry extends DocumentEntry {
  /** 1 when a folder beside the document has its name */
  name_taken: number
}

/** Place of a document within a source. */
export type SourceKey = readonly [folder: string, base: string, id: string]
/** Place of a document by name within its space. */
export type NameKey = readonly [base: string, id: string]

/** rows looked at in one go; a batch takes less than 2 ms */
const BATCH = 500
/** growth of batches after one that was used up */
const GROWTH = 4

const COLUMNS = `d.key, d.id, d.source_id, d.filename, coalesce(d.path_name, d.filename) path_name, d.folder, d.base, d.mime_type, d.size_bytes, d.parser_status,
  d.metadata, d.error, d.created_at, d.updated_at, coalesce(v.version, d.version) version, v.key version_key`
const NAME_TAKEN = `EXISTS (SELECT 1 FROM documents f WHERE f.space_key = d.space_key AND f.source_id IS d.source_id
  AND f.deleted_at IS NULL AND f.folder >= d.folder || d.base || char(1) AND f.folder < d.folder || d.base || char(2))
  name_taken`
// LEFT JOIN keeps the order of the documents' index and shows the invisible ones to the caller, who skips them in batches.
const FROM = `FROM documents d LEFT JOIN versions v ON v.doc_key = d.key AND v.from_revision <= ?
    AND (v.until_revision IS NULL OR v.until_revision > ?)
  WHERE d.space_key = ? AND d.deleted_at IS NULL`

const IN_SOURCE = `SELECT ${COLUMNS}, ${NAME_TAKEN} ${FROM} AND d.source_id IS ?
  AND (d.folder, d.base, d.id) > (?, ?, ?) AND (d.folder, d.base, d.id) < (?, ?, ?)
  ORDER BY d.folder, d.base, d.id LIMIT +?`
const IN_SOURCE_BACK = IN_SOURCE.replace('d.folder, d.base, d.id LIMIT', 'd.folder DESC, d.base DESC, d.id DESC LIMIT')
const BY_NAME = `SELECT ${COLUMNS} ${FROM} AND (d.base, d.id) > (?, ?) AND (d.base, d.id) < (?, ?)
  ORDER BY d.base, d.id LIMIT +?`
const BY_NAME_BACK = BY_NAME.replace('d.base, d.id LIMIT', 'd.base DESC, d.id DESC LIMIT')
const OF_SOURCES = `SELECT ${COLUMNS} ${FROM} AND (d.source_id, d.folder, d.base, d.id) > (?, ?, ?, ?)
  ORDER BY d.source_id, d.folder, d.base, d.id LIMIT +?`

export interface Range<Key> {
  /** both ends are left out */
  after: Key
  before: Key
  backwards?: true
  /** rows the caller is likely to need: the size of the first batch */
  expect?: number
}

/** Visible documents of a source (null: uploads) between two places, in order. */
export function documentsInSource(
  view: View,
  source: string | null,
  range: Range<SourceKey>,
): AsyncGenerator<FileEntry> {
  const { db, revision, space } = view
  const text = range.backwards ? IN_SOURCE_BACK : IN_SOURCE
  return visible(view, range, sourceKey, (after, before, size) =>
    db.now(sql.all<FileEntry>(text, [revision, revision, space.key, source, ...after, ...before, size])),
  )
}

/** Visible documents of the space between two names, in order. */
export function documentsByName(view: View, range: Range<NameKey>): AsyncGenerator<DocumentEntry> {
  const { db, revision, space } = view
  const text = range.backwards ? BY_NAME_BACK : BY_NAME
  return visible(view, range, nameKey, (after, before, size) =>
    db.now(sql.all<DocumentEntry>(text, [revision, revision, space.key, ...after, ...before, size])),
  )
}

/** Visible documents by row key, in the order of the keys. */
export function* documentsByKey(view: View, keys: readonly number[]): Read<DocumentEntry[]> {
  const { revision, space } = view
  const rows = yield* sql.all<DocumentEntry>(
    `SELECT ${COLUMNS} FROM json_each(?) wanted CROSS JOIN documents d ON d.key = wanted.value
     LEFT JOIN versions v ON v.doc_key = d.key AND v.from_revision <= ? AND (v.until_revision IS NULL OR v.until_revision > ?)
     WHERE d.space_key = ? AND d.deleted_at IS NULL ORDER BY wanted.key`,
    [JSON.stringify(keys), revision, revision, space.key],
  )
  return rows.filter((row) => isVisible(view, row) && !isDamaged(row))
}

/** The first source after `source` that has a visible document; an empty text stands before all. */
export async function sourceAfter(view: View, source: string): Promise<string | undefined> {
  const { db, revision, space } = view
  let place: readonly string[] = [source, LAST, '', '']
  for (let size = 1; ; size = Math.min(size * GROWTH, BATCH)) {
    const rows = db.now(sql.all<DocumentEntry>(OF_SOURCES, [revision, revision, space.key, ...place, size]))
    const found = rows.find((row) => isVisible(view, row))
    if (found !== undefined) return found.source_id ?? undefined
    const last = rows[rows.length - 1]
    if (last === undefined || rows.length < size) return undefined
    place = [last.source_id ?? '', ...sourceKey(last, LAST)]
    await view.clock.turn()
  }
}

/** Sources of a name, the oldest first. */
export function* sourcesNamed({ space }: View, name: string): Read<string[]> {
  return (yield* sql.all<{ id: string }>(
    'SELECT id FROM sources WHERE tenant = ? AND space_key = ? AND name = ? AND deleted_at IS NULL ORDER BY id',
    [space.tenant, space.key, name],
  )).map(({ id }) => id)
}

/** What a source is called; nothing for one that was deleted while its documents go, and for one that is damaged. */
export function* aboutSource({ space }: View, id: string): Read<{ name: string; type: string } | undefined> {
  const row = yield* sql.get<{ name: string; type: string }>(
    'SELECT name, type FROM sources WHERE tenant = ? AND space_key = ? AND id = ? AND deleted_at IS NULL',
    [space.tenant, space.key, id],
  )
  return row === undefined || isDamaged(row) ? undefined : row
}

function isVisible({ preview, denied }: View, row: DocumentEntry): boolean {
  return (preview || row.version_key !== null) && (row.source_id === null || !denied.includes(row.source_id))
}

async function* visible<Key, Row extends DocumentEntry>(
  view: View,
  range: Range<Key>,
  keyOf: (row: DocumentEntry, instead: string) => Key,
  fetch: (after: Key, before: Key, size: number) => Row[],
): AsyncGenerator<Row> {
  let { after, before } = range
  for (let size = Math.min(range.expect ?? 1, BATCH); ; size = Math.min(size * GROWTH, BATCH)) {
    const rows = fetch(after, before, size)
    for (const row of rows) if (isVisible(view, row) && !isDamaged(row)) yield row
    const last = rows[rows.length - 1]
    if (last === undefined || rows.length < size) return
    if (range.backwards) before = keyOf(last, '')
    else after = keyOf(last, LAST)
    await view.clock.turn()
  }
}

/** @param instead of an id that is damaged: what stands behind all in the direction of the walk */
export function sourceKey(row: DocumentEntry, instead: string): SourceKey {
  return [row.folder, row.base, unlessDamaged(() => row.id) ?? instead]
}

export function nameKey(row: DocumentEntry, instead: string): NameKey {
  return [row.base, unlessDamaged(() => row.id) ?? instead]
}

/** The place just before everything in a folder and below it, and the one just after. */
export function subtreeOf(folder: string): { after: SourceKey; before: SourceKey } {
  return { after: [folder, '', ''], before: [pastOf(folder), '', ''] }
}

/** Bounds, both left out, between which one id stands alone. */
export function boundsOf(id: string): { after: string; before: string } {
  const last = id.length - 1
  return { after: id.slice(0, last) + String.fromCharCode(id.charCodeAt(last) - 1) + LAST, before: `${id}0` }
}

/** A document that a cursor names; it may have been deleted since. @throws KsError `invalid-cursor` when it is gone */
export function* placeOfDocument(
  view: View,
  id: string,
): Read<Pick<DocumentEntry, 'id' | 'source_id' | 'folder' | 'base'>> {
  const row = yield* sql.get<Pick<DocumentEntry, 'id' | 'source_id' | 'folder' | 'base'>>(
    'SELECT id, source_id, folder, base FROM documents WHERE space_key = ? AND id = ?',
    [view.space.key, id],
  )
  if (row === undefined) throw brokenCursor()
  return row
}

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

export function* nodesAfter(versionKey: number, ordinal: number, limit: number): Read<NodeEntry[]> {
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

export function* nodeTextsAfter(versionKey: number, ordinal: number, limit: number): Read<NodeText[]> {
  return yield* sql.all<NodeText>(
    `SELECT id, ordinal, title, text, start_offset, end_offset, row_hash FROM nodes
     WHERE version_key = ? AND ordinal > ? ORDER BY ordinal LIMIT +?`,
    [versionKey, ordinal, limit],
  )
}

export function* storedOutline(versionKey: number): Read<Uint8Array | undefined> {
  const row = yield* sql.get<{ outline: Uint8Array }>('SELECT outline FROM versions WHERE key = ?', [versionKey])
  return row === undefined ? undefined : yield* packedOf(versionKey, 'outline', row.outline)
}

export function* storedArtifact(versionKey: number): Read<Uint8Array | undefined> {
  const row = yield* sql.get<{ artifact: Uint8Array }>('SELECT artifact FROM versions WHERE key = ?', [versionKey])
  return row === undefined ? undefined : yield* packedOf(versionKey, 'artifact', row.artifact)
}

/** A query of the caller. */
export interface TraceEntry {
  id: string
  query: string
  mode: string
  evidence_state: string | null
  created_at: number
  /** JSON of the evidence bundle */
  body: string | null
}

const TRACES = `SELECT t.id, t.query, t.mode, t.evidence_state, t.created_at, b.body FROM traces t
  LEFT JOIN evidence_bundles b ON b.id = t.bundle_id AND b.tenant = t.tenant AND b.space_key = t.space_key
  WHERE t.tenant = ? AND t.space_key = ? AND t.subject = ?`

export function* tracesAfter({ caller, space }: View, id: string, limit: number): Read<TraceEntry[]> {
  return yield* sql.all<TraceEntry>(`${TRACES} AND t.id > ? ORDER BY t.id LIMIT +?`, [
    caller.tenant,
    space.key,
    caller.subject,
    id,
    limit,
  ])
}

export function* traceById({ caller, space }: View, id: string): Read<TraceEntry | undefined> {
  return yield* sql.get<TraceEntry>(`${TRACES} AND t.id = ?`, [caller.tenant, space.key, caller.subject, id])
}
