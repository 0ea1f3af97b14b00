import { type Read, sql } from '../../program.js'

/**
 * SQL condition that a reader may read the node in a column, and its parameters.
 *
 * @param denied ids of sources that the reader may not read
 */
function readableNodeSql(column: string, denied: readonly string[]): { text: string; values: string[] } {
  if (denied.length === 0) return { text: '', values: [] }
  const text = `AND NOT EXISTS (SELECT 1 FROM nodes kept CROSS JOIN documents owner ON owner.key = kept.doc_key
    WHERE kept.key = ${column} AND owner.source_id IN (SELECT value FROM json_each(?)))`
  return { text, values: [JSON.stringify(denied)] }
}

/** SQL condition that a passage which the reader may read states the relation in a column, and its parameters. */
function statedToReaderSql(column: string, denied: readonly string[]): { text: string; values: string[] } {
  if (denied.length === 0) return { text: '', values: [] }
  const { text, values } = readableNodeSql('stated.node_key', denied)
  return {
    text: `AND EXISTS (SELECT 1 FROM graph_relation_nodes stated WHERE stated.relation_key = ${column} ${text})`,
    values,
  }
}

/** Of some entities, those that a readable passage mentions and that have one of some names. */
export function* filterReadableEntities(
  entities: readonly number[],
  names: readonly string[],
  denied: readonly string[],
): Read<number[]> {
  const mention = readableNodeSql('m.node_key', denied)
  const rows = yield* sql.all<{ key: number }>(
    `SELECT e.key FROM json_each(?) wanted CROSS JOIN graph_entities e ON e.key = wanted.value
     WHERE EXISTS (SELECT 1 FROM graph_mentions m WHERE m.entity_key = e.key ${mention.text})
       AND (e.canonical_key IN (SELECT value FROM json_each(?)) OR EXISTS (
         SELECT 1 FROM graph_names n CROSS JOIN versions v ON v.key = n.version_key
         CROSS JOIN documents d ON d.key = v.doc_key
         WHERE n.entity_key = e.key AND n.alias_key IN (SELECT value FROM json_each(?))
           AND (d.source_id IS NULL OR d.source_id NOT IN (SELECT value FROM json_each(?)))))`,
    [JSON.stringify(entities), ...mention.values, JSON.stringify(names), JSON.stringify(names), JSON.stringify(denied)],
  )
  return rows.map(({ key }) => key)
}

/** The entity with an id or a canonical key. */
export function* findEntityKey(spaceKey: number, id: string, canonicalKey: string): Read<number | undefined> {
  return (yield* sql.get<{ key: number }>(
    'SELECT key FROM graph_entities WHERE space_key = ? AND (id = ? OR canonical_key = ?) LIMIT 1',
    [spaceKey, id, canonicalKey],
  ))?.key
}

/** Entities whose canonical key or other name is one of some keys; at most `limit` by each. */
export function* listEntitiesByName(spaceKey: number, keys: readonly string[], limit: number): Read<number[]> {
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

/** The entities that each of some nodes mentions. */
export function* listMentionedEntities(nodes: readonly number[], limit: number): Read<number[][]> {
  const rows = yield* sql.allEach<{ key: number }>(
    'SELECT entity_key key FROM graph_mentions WHERE node_key = ? LIMIT +?',
    nodes.map((node) => [node, limit]),
  )
  return rows.map((group) => group.map(({ key }) => key))
}

/** The other ends of the relations of each of some entities, highest confidence first. */
export function* listNeighbours(
  entities: readonly number[],
  limit: number,
  denied: readonly string[],
): Read<{ other: number; isStated: boolean }[][]> {
  const condition = statedToReaderSql('graph_relations.key', denied)
  const rows = yield* sql.allEach<{ other: number; type: string; predicate: string }>(
    `SELECT other, type, predicate FROM (
       SELECT object_key other, type, predicate, confidence, key FROM graph_relations
         WHERE subject_key = ? ${condition.text}
       UNION ALL SELECT subject_key, type, predicate, confidence, key FROM graph_relations
         WHERE object_key = ? ${condition.text})
     ORDER BY confidence DESC, key LIMIT +?`,
    entities.map((entity) => [entity, ...condition.values, entity, ...condition.values, limit]),
  )
  return rows.map((group) =>
    group.map(({ other, type, predicate }) => ({ other, isStated: type !== 'mentions' || predicate !== '' })),
  )
}

/** Readable nodes that mention each of some entities, newest first. @param denied see `readableNodeSql` */
export function* listMentioningNodes(
  entities: readonly number[],
  limit: number,
  denied: readonly string[],
): Read<number[][]> {
  const condition = readableNodeSql('graph_mentions.node_key', denied)
  const rows = yield* sql.allEach<{ key: number }>(
    `SELECT node_key key FROM graph_mentions WHERE entity_key = ? ${condition.text} ORDER BY node_key DESC LIMIT +?`,
    entities.map((entity) => [entity, ...condition.values, limit]),
  )
  return rows.map((group) => group.map(({ key }) => key))
}

/** Number of readable nodes that mention each of some entities, counted up to `maxCount`. */
export function* countMentionsUpTo(
  entities: readonly number[],
  maxCount: number,
  denied: readonly string[],
): Read<number[]> {
  const condition = readableNodeSql('graph_mentions.node_key', denied)
  const rows = yield* sql.getEach<{ n: number }>(
    `SELECT count(*) n FROM (SELECT 1 FROM graph_mentions WHERE entity_key = ? ${condition.text} LIMIT +?) counted`,
    entities.map((entity) => [entity, ...condition.values, maxCount]),
  )
  return rows.map((row) => row?.n ?? 0)
}
