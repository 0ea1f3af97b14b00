import type { EntityType, RelationType } from '../../../../contract/gateway/graph.js'
import { isDamaged } from '../../guarded-rows.js'
import { type Read, sql } from '../../program.js'

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
  /** more specific than the type; empty for the type alone */
  predicate: string
  confidence: number
  extraction_version: number
  metadata: string
  created_at: number
  updated_at: number
}

/** The part of a space's graph that one reader may see. */
export interface VisibleGraph {
  space: { key: number }
  revision: number
  /** ids of sources that the reader may not read */
  denied: readonly string[]
}

/** maximum number of rows that are read for an entity's spellings */
const MAX_SPELLING_ROWS = 100

// With this join order a statement stops at the first visible row.
const IS_VISIBLE = `v.from_revision <= ? AND (v.until_revision IS NULL OR v.until_revision > ?) AND d.deleted_at IS NULL
  AND (d.source_id IS NULL OR d.source_id NOT IN (SELECT value FROM json_each(?)))`
const JOIN_VERSION = `CROSS JOIN versions v ON v.key = m.version_key CROSS JOIN documents d ON d.key = v.doc_key`

function toVisibilityParameters({ revision, denied }: VisibleGraph): (string | number)[] {
  return [revision, revision, JSON.stringify(denied)]
}

const STATEMENT_TABLES = {
  entity: { table: 'graph_mentions', owner: 'entity_key' },
  relation: { table: 'graph_relation_nodes', owner: 'relation_key' },
} as const

/** Whether a passage that the reader may read mentions the entity, or states the relation. */
export function* isVisible(view: VisibleGraph, kind: keyof typeof STATEMENT_TABLES, key: number): Read<boolean> {
  const { table, owner } = STATEMENT_TABLES[kind]
  return yield* sql.exists(
    `SELECT 1 one FROM ${table} m ${JOIN_VERSION} WHERE m.${owner} = ? AND ${IS_VISIBLE} LIMIT 1`,
    [key, ...toVisibilityParameters(view)],
  )
}

/** The entity with this id, if it is visible. */
export function* findEntityById(view: VisibleGraph, id: string): Read<EntityRow | undefined> {
  const row = yield* sql.get<EntityRow>('SELECT * FROM graph_entities WHERE space_key = ? AND id = ?', [
    view.space.key,
    id,
  ])
  return row !== undefined && (yield* isVisible(view, 'entity', row.key)) ? row : undefined
}

/** The entity with this type and canonical key, if it is visible. */
export function* findEntityByCanonicalKey(
  view: VisibleGraph,
  type: string,
  canonicalKey: string,
): Read<EntityRow | undefined> {
  const row = yield* sql.get<EntityRow>('SELECT * FROM graph_entities WHERE space_key = ? AND canonical_key = ?', [
    view.space.key,
    canonicalKey,
  ])
  return row?.type === type && (yield* isVisible(view, 'entity', row.key)) ? row : undefined
}

/** An entity at the end of a relation; undefined for a damaged one. */
export function* findEntityByRowKey(view: VisibleGraph, key: number): Read<EntityRow | undefined> {
  const row = yield* sql.get<EntityRow>('SELECT * FROM graph_entities WHERE space_key = ? AND key = ?', [
    view.space.key,
    key,
  ])
  return row === undefined || isDamaged(row) ? undefined : row
}

/** Entities by canonical key, of one type or of all; visibility is not checked. */
export function* listEntityRowsAfter(
  { space }: VisibleGraph,
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

export interface EntitySourceNode {
  key: number
  id: string
  version_key: number
  doc_key: number
  filename: string
  /** JSON of the subjects that may read it; empty for the whole tenant */
  scope: string
}

/** Passages that the reader may read, newest document first. */
export function* listSourceNodes(
  view: VisibleGraph,
  kind: keyof typeof STATEMENT_TABLES,
  key: number,
  limit: number,
): Read<EntitySourceNode[]> {
  const { table, owner } = STATEMENT_TABLES[kind]
  return yield* sql.all<EntitySourceNode>(
    `SELECT n.key, n.id, m.version_key, d.key doc_key, d.filename,
       (SELECT json_group_array(subject) FROM source_readers r WHERE r.source_id = d.source_id) scope
     FROM ${table} m ${JOIN_VERSION} CROSS JOIN nodes n ON n.key = m.node_key
     WHERE m.${owner} = ? AND ${IS_VISIBLE} ORDER BY m.node_key DESC LIMIT +?`,
    [key, ...toVisibilityParameters(view), limit],
  )
}

/** Whether a visible document has another name for the entity that contains a text. */
export function* hasOtherName(view: VisibleGraph, key: number, part: string): Read<boolean> {
  return yield* sql.exists(
    `SELECT 1 one FROM graph_names m ${JOIN_VERSION}
     WHERE m.entity_key = ? AND m.alias_key IS NOT NULL AND instr(m.alias_key, ?) > 0 AND ${IS_VISIBLE} LIMIT 1`,
    [key, part, ...toVisibilityParameters(view)],
  )
}

/** Visible spellings, the most frequent first. */
export function* listEntityNames(view: VisibleGraph, row: EntityRow): Read<string[]> {
  const rows = yield* sql.all<{ name: string }>(
    `SELECT m.name FROM graph_names m ${JOIN_VERSION} WHERE m.entity_key = ? AND ${IS_VISIBLE} LIMIT +?`,
    [row.key, ...toVisibilityParameters(view), MAX_SPELLING_ROWS],
  )
  const counts = new Map<string, number>()
  for (const { name } of rows) counts.set(name, (counts.get(name) ?? 0) + 1)
  const mainNameRank = (name: string): number => (name === row.name ? 1 : 0)
  return [...counts]
    .sort(([a, n], [b, m]) => m - n || mainNameRank(b) - mainNameRank(a) || (a < b ? -1 : 1))
    .map(([name]) => name)
}
