import type { EntityType, RelationType } from '../../../contract/gateway/graph.js'
import { isDamaged } from '../../storage/guarded-rows.js'
import { type Read, sql } from '../../storage/program.js'

export interface EntityRow {
  key: number
  id: string
  type: EntityType
  canonical_key: string
  name: string
  confidence: number
  extraction_version: number
  metadata: string
  created_at: number
  updated_at: number
}

export interface RelationRow {
  key: number
  id: string
  subject_key: number
  object_key: number
  type: RelationType
  /** what is stated more exactly; empty for the type alone */
  predicate: string
  confidence: number
  extraction_version: number
  metadata: string
  created_at: number
  updated_at: number
}

/** What one reader sees of a space's graph. */
export interface Seen {
  space: { key: number }
  revision: number
  /** ids of sources that the reader may not read */
  denied: readonly string[]
}

/** Versions whose spellings are looked at. */
const NAMES = 100

// In the order of these joins a statement stops at the first row that is visible.
const SHOWN = `v.from_revision <= ? AND (v.until_revision IS NULL OR v.until_revision > ?) AND d.deleted_at IS NULL
  AND (d.source_id IS NULL OR d.source_id NOT IN (SELECT value FROM json_each(?)))`
const OF_VERSION = `CROSS JOIN versions v ON v.key = m.version_key CROSS JOIN documents d ON d.key = v.doc_key`

function shownTo({ revision, denied }: Seen): (string | number)[] {
  return [revision, revision, JSON.stringify(denied)]
}

const TABLES = {
  entity: { table: 'graph_mentions', owner: 'entity_key' },
  relation: { table: 'graph_relation_nodes', owner: 'relation_key' },
} as const

/** Whether some passage that the reader sees mentions the entity, or states the relation. */
export function* isShown(view: Seen, kind: keyof typeof TABLES, key: number): Read<boolean> {
  const { table, owner } = TABLES[kind]
  const found = yield* sql.get<{ one: number }>(
    `SELECT 1 one FROM ${table} m ${OF_VERSION} WHERE m.${owner} = ? AND ${SHOWN} LIMIT 1`,
    [key, ...shownTo(view)],
  )
  return found !== undefined
}

/** The entity of this id, if the reader sees it. */
export function* entityById(view: Seen, id: string): Read<EntityRow | undefined> {
  const row = yield* sql.get<EntityRow>('SELECT * FROM graph_entities WHERE space_key = ? AND id = ?', [
    view.space.key,
    id,
  ])
  return row !== undefined && (yield* isShown(view, 'entity', row.key)) ? row : undefined
}

/** The entity of this type and canonical key, if the reader sees it. */
export function* entityNamed(view: Seen, type: string, canonicalKey: string): Read<EntityRow | undefined> {
  const row = yield* sql.get<EntityRow>('SELECT * FROM graph_entities WHERE space_key = ? AND canonical_key = ?', [
    view.space.key,
    canonicalKey,
  ])
  return row?.type === type && (yield* isShown(view, 'entity', row.key)) ? row : undefined
}

/** The entity at the end of a relation; one that is damaged is not there. */
export function* entityByKey(view: Seen, key: number): Read<EntityRow | undefined> {
  const row = yield* sql.get<EntityRow>('SELECT * FROM graph_entities WHERE space_key = ? AND key = ?', [
    view.space.key,
    key,
  ])
  return row === undefined || isDamaged(row) ? undefined : row
}

/** Rows by canonical key after a place, of one type or of all; whether the reader sees them is not looked at. */
export function* entityRowsAfter(
  { space }: Seen,
  after: string,
  type: EntityType | undefined,
  limit: number,
): Read<EntityRow[]> {
  return yield* sql.all<EntityRow>(
    `SELECT * FROM graph_entities WHERE space_key = ? AND canonical_key > ? ${type === undefined ? '' : 'AND type = ?'}
     ORDER BY canonical_key LIMIT +?`,
    [space.key, after, ...(type === undefined ? [] : [type]), limit],
  )
}

export interface SourceNode {
  key: number
  id: string
  version_key: number
  doc_key: number
  filename: string
  /** JSON of the subjects that it is for; empty for everybody */
  scope: string
}

/** Passages that the reader sees, newest document first. */
export function* sourceNodes(view: Seen, kind: keyof typeof TABLES, key: number, limit: number): Read<SourceNode[]> {
  const { table, owner } = TABLES[kind]
  return yield* sql.all<SourceNode>(
    `SELECT n.key, n.id, m.version_key, d.key doc_key, d.filename,
       (SELECT json_group_array(subject) FROM source_readers r WHERE r.source_id = d.source_id) scope
     FROM ${table} m ${OF_VERSION} CROSS JOIN nodes n ON n.key = m.node_key
     WHERE m.${owner} = ? AND ${SHOWN} ORDER BY m.node_key DESC LIMIT +?`,
    [key, ...shownTo(view), limit],
  )
}

/** Whether a document that the reader sees calls an entity by another name that holds these words. */
export function* isCalled(view: Seen, key: number, part: string): Read<boolean> {
  const found = yield* sql.get<{ one: number }>(
    `SELECT 1 one FROM graph_names m ${OF_VERSION}
     WHERE m.entity_key = ? AND m.alias_key IS NOT NULL AND instr(m.alias_key, ?) > 0 AND ${SHOWN} LIMIT 1`,
    [key, part, ...shownTo(view)],
  )
  return found !== undefined
}

/** Spellings that the reader sees, the most frequent first. */
export function* namesOf(view: Seen, row: EntityRow): Read<string[]> {
  const rows = yield* sql.all<{ name: string }>(
    `SELECT m.name FROM graph_names m ${OF_VERSION} WHERE m.entity_key = ? AND ${SHOWN} LIMIT +?`,
    [row.key, ...shownTo(view), NAMES],
  )
  const counts = new Map<string, number>()
  for (const { name } of rows) counts.set(name, (counts.get(name) ?? 0) + 1)
  const known = (name: string): number => (name === row.name ? 1 : 0)
  return [...counts].sort(([a, n], [b, m]) => m - n || known(b) - known(a) || (a < b ? -1 : 1)).map(([name]) => name)
}
