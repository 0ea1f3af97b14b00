import { type Read, sql } from '../../../store/program.js'
import { LIVE, OPEN } from './open.js'

export interface OpenRelation {
  key: number
  subject_key: number
  object_key: number
  type: string
  predicate: string
  confidence: number
  /** number of open passages that state it */
  support: number
}

/** Relations that open, published passages state, newest first, between named entities (no dates and metrics). */
export function* listOpenRelations(spaceKey: number, before: number, limit: number): Read<OpenRelation[]> {
  return yield* sql.all<OpenRelation>(
    `SELECT r.key, r.subject_key, r.object_key, r.type, r.predicate, r.confidence, (
       SELECT count(*) FROM (SELECT 1 FROM graph_relation_nodes m CROSS JOIN versions v ON v.key = m.version_key
         CROSS JOIN documents d ON d.key = v.doc_key WHERE m.relation_key = r.key AND ${LIVE} AND ${OPEN} LIMIT 20)) support
     FROM (SELECT * FROM graph_relations WHERE space_key = ? AND key < ? ORDER BY key DESC LIMIT +?) r
     CROSS JOIN graph_entities a ON a.key = r.subject_key CROSS JOIN graph_entities b ON b.key = r.object_key
     WHERE a.type NOT IN ('date', 'metric') AND b.type NOT IN ('date', 'metric')`,
    [spaceKey, before, limit],
  )
}

/** The key from which on a space has at most `count` relations; 0 if it has no more in total. */
export function* findOldestRecentRelation(spaceKey: number, count: number): Read<number> {
  const rows = yield* sql.all<{ key: number }>(
    'SELECT key FROM graph_relations WHERE space_key = ? ORDER BY key DESC LIMIT 2 OFFSET ?',
    [spaceKey, count - 1],
  )
  return rows.length < 2 ? 0 : (rows[0]?.key ?? 0)
}

export function* findLastRelationOfSlice(spaceKey: number, before: number, limit: number): Read<number | undefined> {
  const rows = yield* sql.all<{ key: number }>(
    'SELECT key FROM graph_relations WHERE space_key = ? AND key < ? ORDER BY key DESC LIMIT +?',
    [spaceKey, before, limit],
  )
  return rows.length < limit ? undefined : rows.at(-1)?.key
}

/**
 * Open documents by their number of mentions in a slice of an entity's mentions; `last` is the slice's end, null if it
 * is the last slice.
 */
export function* listOpenMentions(
  entity: number,
  after: number,
  limit: number,
): Read<{ documents: { key: number; n: number }[]; last: number | null }> {
  const slice = `SELECT node_key, version_key FROM graph_mentions WHERE entity_key = ? AND node_key > ?
        ORDER BY node_key LIMIT +?`
  const documents = yield* sql.all<{ key: number; n: number }>(
    `SELECT d.key, sum(m.n) n FROM (SELECT version_key, count(*) n FROM (${slice}) GROUP BY version_key) m
         CROSS JOIN versions v ON v.key = m.version_key CROSS JOIN documents d ON d.key = v.doc_key
         WHERE ${LIVE} AND ${OPEN} GROUP BY d.key`,
    [entity, after, limit],
  )
  const last = yield* sql.get<{ node_key: number }>(
    'SELECT node_key FROM graph_mentions WHERE entity_key = ? AND node_key > ? ORDER BY node_key LIMIT 1 OFFSET ?',
    [entity, after, limit - 1],
  )
  return { documents, last: last?.node_key ?? null }
}

/** Names of entities as open, published documents write them. */
export function* listOpenNames(keys: readonly number[]): Read<Map<number, string>> {
  const rows = yield* sql.all<{ key: number; name: string | null }>(
    `SELECT wanted.value key, (SELECT m.name FROM graph_names m CROSS JOIN versions v ON v.key = m.version_key
       CROSS JOIN documents d ON d.key = v.doc_key WHERE m.entity_key = wanted.value AND ${LIVE} AND ${OPEN} LIMIT 1) name
     FROM json_each(?) wanted`,
    [JSON.stringify(keys)],
  )
  return new Map(rows.flatMap(({ key, name }): [number, string][] => (name === null ? [] : [[key, name]])))
}
