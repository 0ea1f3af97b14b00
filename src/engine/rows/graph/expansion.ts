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
  const rows = yield* sql.all<{ key: number }>(
    `SELECT key FROM (SELECT e.key FROM json_each(?) wanted CROSS JOIN graph_entities e
       ON e.space_key = ? AND e.canonical_key = wanted.value LIMIT +?)
     UNION SELECT key FROM (SELECT DISTINCT e.key FROM json_each(?) called CROSS JOIN graph_names n INDEXED BY graph_names_alias
       ON n.alias_key = called.value CROSS JOIN graph_entities e ON e.key = n.entity_key AND e.space_key = ? LIMIT +?)`,
    [wanted, spaceKey, limit, wanted, spaceKey, limit],
  )
  return rows.map(({ key }) => key)
}

/** Entities that each of some nodes mentions. */
export function* mentionedBy(nodes: readonly number[], limit: number): Read<number[][]> {
  const rows = yield* sql.allEach<{ key: number }>(
    'SELECT entity_key key FROM graph_mentions WHERE node_key = ? LIMIT +?',
    nodes.map((node) => [node, limit]),
  )
  return rows.map((of) => of.map(({ key }) => key))
}

/** What the surest relations of each of some entities lead to. */
export function* neighboursOf(
  entities: readonly number[],
  limit: number,
): Read<{ other: number; isStated: boolean }[][]> {
  const rows = yield* sql.allEach<{ other: number; type: string; predicate: string }>(
    `SELECT other, type, predicate FROM (
       SELECT object_key other, type, predicate, confidence, key FROM graph_relations WHERE subject_key = ?
       UNION ALL SELECT subject_key, type, predicate, confidence, key FROM graph_relations WHERE object_key = ?)
     ORDER BY confidence DESC, key LIMIT +?`,
    entities.map((entity) => [entity, entity, limit]),
  )
  return rows.map((of) =>
    of.map(({ other, type, predicate }) => ({ other, isStated: type !== 'mentions' || predicate !== '' })),
  )
}

/** Nodes that mention each of some entities, newest first. */
export function* nodesOf(entities: readonly number[], limit: number): Read<number[][]> {
  const rows = yield* sql.allEach<{ key: number }>(
    'SELECT node_key key FROM graph_mentions WHERE entity_key = ? ORDER BY node_key DESC LIMIT +?',
    entities.map((entity) => [entity, limit]),
  )
  return rows.map((of) => of.map(({ key }) => key))
}

/** How many nodes mention each of some entities, counted up to a number. */
export function* mentionsUpTo(entities: readonly number[], most: number): Read<number[]> {
  const rows = yield* sql.getEach<{ n: number }>(
    'SELECT count(*) n FROM (SELECT 1 FROM graph_mentions WHERE entity_key = ? LIMIT +?)',
    entities.map((entity) => [entity, most]),
  )
  return rows.map((row) => row?.n ?? 0)
}
