import type { EntityType } from '../../../../contract/gateway/graph.js'
import { newId } from '../../../../lib/ids.js'
import { type Read, readClock, sql, type Write } from '../../../store/program.js'
import { EXTRACTION_VERSION } from '../../../store/rows/derivations.js'

/** The nodes that were read, and by which method. */
export interface ExtractionScope {
  spaceKey: number
  versionKey: number
  /** the nodes that were read; if absent, all of the version */
  nodes?: ReadonlySet<number>
  /** read by a model, in addition to the rules */
  byModel?: boolean
}

/** The result of a write to the graph. */
export interface GraphWriteResult {
  key: number
  isNew: boolean
  /** nodes that did not state it before */
  changed: number[]
}

/** Number of entities or relations in the graph of a space. */
export function* countGraphRows(table: 'graph_entities' | 'graph_relations', spaceKey: number): Read<number> {
  return (yield* sql.get<{ n: number }>(`SELECT count(*) n FROM ${table} WHERE space_key = ?`, [spaceKey]))?.n ?? 0
}

/** Whether the scope may have stored statements: searching a long version for some nodes is slow. */
export function* hasStatements({ nodes, byModel }: ExtractionScope): Read<boolean> {
  if (nodes === undefined) return true
  const row = yield* sql.get<{ one: number }>(
    `SELECT 1 one FROM json_each(?) wanted CROSS JOIN graph_mentions m INDEXED BY graph_mentions_node
       ON m.node_key = wanted.value AND m.by_model = ? LIMIT 1`,
    [JSON.stringify([...nodes]), byModel ? 1 : 0],
  )
  return row !== undefined
}

export interface NewEntity {
  type: EntityType
  canonicalKey: string
  name: string
  confidence: number
  /** spellings; `aliasKey` is null for one that gives the canonical key */
  names: readonly { name: string; aliasKey: string | null }[]
  nodes: ReadonlySet<number>
}

/**
 * Stores an entity with its mentions, inside the caller's transaction; undefined for a new one when the graph is full.
 */
export function* writeEntity(
  scope: ExtractionScope,
  entity: NewEntity,
  hasCapacity: boolean,
): Write<GraphWriteResult | undefined> {
  const existing = yield* sql.get<{ key: number; type: EntityType }>(
    'SELECT key, type FROM graph_entities WHERE space_key = ? AND canonical_key = ?',
    [scope.spaceKey, entity.canonicalKey],
  )
  if (existing === undefined && !hasCapacity) return undefined
  const now = yield* readClock()
  const key = existing?.key ?? (yield* insertEntity(scope.spaceKey, entity, now))
  // the type of a more specific rule replaces `term`
  if (existing?.type === 'term' && entity.type !== 'term')
    yield* sql.run('UPDATE graph_entities SET type = ?, name = ?, confidence = ?, updated_at = ? WHERE key = ?', [
      entity.type,
      entity.name,
      entity.confidence,
      now,
      key,
    ])
  for (const { name, aliasKey } of entity.names)
    yield* sql.run(
      `INSERT INTO graph_names (entity_key, version_key, name, type, confidence, alias_key) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (entity_key, version_key, name) DO UPDATE SET type = excluded.type, confidence = excluded.confidence, alias_key = excluded.alias_key`,
      [key, scope.versionKey, name, entity.type, entity.confidence, aliasKey],
    )
  const changed: number[] = []
  for (const node of entity.nodes) {
    const { changes } = yield* sql.run(
      'INSERT OR IGNORE INTO graph_mentions (entity_key, node_key, version_key, by_model) VALUES (?, ?, ?, ?)',
      [key, node, scope.versionKey, scope.byModel ? 1 : 0],
    )
    if (changes > 0) changed.push(node)
  }
  return { key, isNew: existing === undefined, changed }
}

function* insertEntity(spaceKey: number, entity: NewEntity, now: number): Write<number> {
  const { type, canonicalKey, name, confidence } = entity
  return yield* sql.inserted(
    `INSERT INTO graph_entities (id, space_key, type, canonical_key, name, confidence, extraction_version, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key`,
    [newId(), spaceKey, type, canonicalKey, name, confidence, EXTRACTION_VERSION, now, now],
  )
}

/** A relation; its ends are row keys. */
export interface NewRelation {
  subject: number
  object: number
  type: string
  predicate: string
  confidence: number
  nodes: ReadonlySet<number>
}

/** Stores a relation with its statements, like `writeEntity`. */
export function* writeRelation(
  scope: ExtractionScope,
  relation: NewRelation,
  hasCapacity: boolean,
): Write<GraphWriteResult | undefined> {
  const { subject, object, type, predicate, confidence, nodes } = relation
  const existing = yield* sql.get<{ key: number }>(
    'SELECT key FROM graph_relations WHERE subject_key = ? AND object_key = ? AND type = ? AND predicate = ?',
    [subject, object, type, predicate],
  )
  if (existing === undefined && !hasCapacity) return undefined
  const now = yield* readClock()
  const key =
    existing?.key ??
    (yield* sql.inserted(
      `INSERT INTO graph_relations (id, space_key, subject_key, object_key, type, predicate, confidence,
         extraction_version, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key`,
      [newId(), scope.spaceKey, subject, object, type, predicate, confidence, EXTRACTION_VERSION, now, now],
    ))
  const changed: number[] = []
  for (const node of nodes) {
    const { changes } = yield* sql.run(
      'INSERT OR IGNORE INTO graph_relation_nodes (relation_key, node_key, version_key, by_model) VALUES (?, ?, ?, ?)',
      [key, node, scope.versionKey, scope.byModel ? 1 : 0],
    )
    if (changes > 0) changed.push(node)
  }
  return { key, isNew: existing === undefined, changed }
}

const STATEMENT_TABLES = {
  entities: { table: 'graph_mentions', owner: 'entity_key' },
  relations: { table: 'graph_relation_nodes', owner: 'relation_key' },
} as const

export interface GraphStatement {
  owner: number
  node_key: number
}

/** Which nodes of a version state which entities or relations, by the method of the scope. */
export function* listStatements(scope: ExtractionScope, kind: keyof typeof STATEMENT_TABLES): Read<GraphStatement[]> {
  const { table, owner } = STATEMENT_TABLES[kind]
  return yield* sql.all<GraphStatement>(
    `SELECT ${owner} owner, node_key FROM ${table} WHERE version_key = ? AND by_model = ?`,
    [scope.versionKey, scope.byModel ? 1 : 0],
  )
}

/** Removes outdated statements; triggers remove entities and relations without statements. */
export function* removeStatements(
  kind: keyof typeof STATEMENT_TABLES,
  outdated: readonly GraphStatement[],
): Write<void> {
  const { table, owner } = STATEMENT_TABLES[kind]
  for (const statement of outdated)
    yield* sql.run(`DELETE FROM ${table} WHERE ${owner} = ? AND node_key = ?`, [statement.owner, statement.node_key])
}

/** Marks a version as extracted. */
export function* markVersionExtracted({ spaceKey, versionKey }: ExtractionScope): Write<void> {
  yield* sql.run(
    `DELETE FROM graph_names WHERE version_key = ? AND entity_key NOT IN
       (SELECT entity_key FROM graph_mentions WHERE version_key = ?)`,
    [versionKey, versionKey],
  )
  yield* sql.run(
    'INSERT OR REPLACE INTO graph_versions (version_key, space_key, extraction_version) VALUES (?, ?, ?)',
    [versionKey, spaceKey, EXTRACTION_VERSION],
  )
}
