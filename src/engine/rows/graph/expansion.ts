import { type Read, sql } from '../../storage/program.js'

/** The entity of an id or a canonical key. */
export function* entityCalled(spaceKey: number, id: string, canonicalKey: string): Read<number | undefined> {
  return (yield* sql.get<{ key: number }>(
    'SELECT key FROM graph_entities WHERE space_key = ? AND (id = ? OR canonical_key = ?) LIMIT 1',
    [spaceKey, id, canonicalKey],
  ))?.key
}

/** Entities whose canonical key, or another name, is one of some keys; of either at most `limit`. */
export function* entitiesNamed(spaceKey: number, keys: readonly string[], limit: number): Read<number[]> {
  const wanted = JSON.stringify(keys)
  const named = yield* sql.all<{ key: number }>(
    `SELECT e.key FROM json_each(?) wanted CROSS JOIN graph_entities e
     ON e.space_key = ? AND e.canonical_key = wanted.value LIMIT +?`,
    [wanted, spaceKey, limit],
  )
  const aliased = yield* sql.all<{ key: number }>(
    `SELECT DISTINCT e.key FROM json_each(?) wanted CROSS JOIN graph_names n INDEXED BY graph_names_alias
     ON n.alias_key = wanted.value CROSS JOIN graph_entities e ON e.key = n.entity_key AND e.space_key = ? LIMIT +?`,
    [wanted, spaceKey, limit],
  )
  return [...new Set([...named, ...aliased].map(({ key }) => key))]
}

/** Entities that a node mentions. */
export function* mentionedBy(node: number, limit: number): Read<number[]> {
  return (yield* sql.all<{ key: number }>('SELECT entity_key key FROM graph_mentions WHERE node_key = ? LIMIT +?', [
    node,
    limit,
  ])).map(({ key }) => key)
}

/** What the surest relations of an entity lead to. */
export function* neighboursOf(entity: number, limit: number): Read<{ other: number; isStated: boolean }[]> {
  const rows = yield* sql.all<{ other: number; type: string; predicate: string }>(
    `SELECT other, type, predicate FROM (
       SELECT object_key other, type, predicate, confidence, key FROM graph_relations WHERE subject_key = ?
       UNION ALL SELECT subject_key, type, predicate, confidence, key FROM graph_relations WHERE object_key = ?)
     ORDER BY confidence DESC, key LIMIT +?`,
    [entity, entity, limit],
  )
  return rows.map(({ other, type, predicate }) => ({ other, isStated: type !== 'mentions' || predicate !== '' }))
}

/** Nodes that mention an entity, newest first. */
export function* nodesOf(entity: number, limit: number): Read<number[]> {
  return (yield* sql.all<{ key: number }>(
    'SELECT node_key key FROM graph_mentions WHERE entity_key = ? ORDER BY node_key DESC LIMIT +?',
    [entity, limit],
  )).map(({ key }) => key)
}

/** How many nodes mention an entity, counted up to a number. */
export function* mentionsUpTo(entity: number, most: number): Read<number> {
  return (
    (yield* sql.get<{ n: number }>(
      'SELECT count(*) n FROM (SELECT 1 FROM graph_mentions WHERE entity_key = ? LIMIT +?)',
      [entity, most],
    ))?.n ?? 0
  )
}
