import { type Read, sql } from '../../../store/program.js'
import type { ReportInput } from '../../../store/rows/views/reports.js'
import { LIVE, OPEN } from './open.js'

/** maximum number of mentions per member, passages per community, and names per entity */
const MAX_MENTIONS = 300
const MAX_PASSAGES = 40
const MAX_NAMES = 4

/** The input of a report about some entities: their open names, and open passages that mention several of them. */
export function* loadReportInput(
  spaceKey: number,
  members: readonly { key: number; score: number }[],
): Read<ReportInput> {
  const keys = members.map(({ key }) => key)
  const keyList = JSON.stringify(keys)
  const names = new Map<number, { names: string[]; type: string }>()
  for (const { key, type } of yield* sql.all<{ key: number; type: string }>(
    'SELECT e.key, e.type FROM json_each(?) wanted CROSS JOIN graph_entities e ON e.key = wanted.value',
    [keyList],
  ))
    names.set(key, { names: yield* listOpenSpellings(key), type })
  const weights = new Map<number, number>()
  const add = (node: number, weight: number) => weights.set(node, (weights.get(node) ?? 0) + weight)
  for (const key of keys)
    for (const { node_key } of yield* sql.all<{ node_key: number }>(
      'SELECT node_key FROM graph_mentions WHERE entity_key = ? ORDER BY node_key DESC LIMIT +?',
      [key, MAX_MENTIONS],
    ))
      add(node_key, 1)
  for (const { node_key } of yield* sql.all<{ node_key: number }>(
    `SELECT m.node_key FROM json_each(?) a CROSS JOIN json_each(?) b
     CROSS JOIN graph_relations r ON r.subject_key = a.value AND r.object_key = CAST(b.value AS INTEGER) AND r.predicate <> ''
     CROSS JOIN graph_relation_nodes m ON m.relation_key = r.key LIMIT ${MAX_MENTIONS}`,
    [keyList, keyList],
  ))
    add(node_key, 2)
  const best = [...weights].filter(([, weight]) => weight > 1).sort((a, b) => b[1] - a[1] || a[0] - b[0])
  const passages = yield* sql.all<{ node: number; document: number; text: string }>(
    `SELECT n.key node, n.doc_key document, n.text FROM json_each(?) wanted CROSS JOIN nodes n ON n.key = wanted.value
     CROSS JOIN versions v ON v.key = n.version_key CROSS JOIN documents d ON d.key = n.doc_key
     WHERE n.space_key = ? AND ${LIVE} AND ${OPEN} ORDER BY wanted.key LIMIT ${MAX_PASSAGES}`,
    [JSON.stringify(best.slice(0, MAX_PASSAGES * 2).map(([node]) => node)), spaceKey],
  )
  return {
    members: members.flatMap(({ key, score }) => {
      const entry = names.get(key)
      return entry === undefined || entry.names.length === 0 ? [] : [{ ...entry, score }]
    }),
    passages,
  }
}

/** Names of an entity as open, published documents write them, the most frequent first. */
function* listOpenSpellings(entity: number): Read<string[]> {
  const rows = yield* sql.all<{ name: string }>(
    `SELECT name, count(*) n FROM (SELECT m.name FROM graph_names m CROSS JOIN versions v ON v.key = m.version_key
       CROSS JOIN documents d ON d.key = v.doc_key WHERE m.entity_key = ? AND ${LIVE} AND ${OPEN} LIMIT ${MAX_MENTIONS})
     GROUP BY name ORDER BY n DESC, name LIMIT ${MAX_NAMES}`,
    [entity],
  )
  return rows.map(({ name }) => name)
}
