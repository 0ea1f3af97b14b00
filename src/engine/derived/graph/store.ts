import { setImmediate as turn } from 'node:timers/promises'
import { newId } from '../../../lib/ids.js'
import type { Database } from '../../storage/database.js'
import { type Read, sql, type Write } from '../../storage/program.js'
import { canonicalKey, type EntityType, type FoundEntity } from './entities.js'
import type { ExtractedEntity, ExtractedRelation, Extraction } from './extraction.js'

/** Raised when the rules change: documents read by others are read again. */
export const EXTRACTION_VERSION = 6

interface KnownEntity {
  key: number
  type: EntityType
}

/** How much more a space's graph may hold; counted down by what is written. */
export interface GraphRoom {
  entities: number
  relations: number
}

/** Rows written in one transaction, so that the event loop is held for milliseconds. */
const SLICE = 200

/** What was read, and by what. */
export interface ReadPart {
  spaceKey: number
  versionKey: number
  /** the nodes that were read; absent: all of the version */
  nodes?: ReadonlySet<number>
  /** read by a model beside the rules */
  byModel?: boolean
}

/** What the graph holds of what was read. */
export interface Indexed {
  entities: Set<number>
  relations: Set<number>
  /** nodes of which something was added or taken back */
  changed: Set<number>
}

/** What the quota leaves a space. */
export function* graphRoom(
  spaceKey: number,
  quota: { maxGraphEntityCount: number; maxGraphRelationCount: number },
): Read<GraphRoom> {
  function* count(table: 'graph_entities' | 'graph_relations') {
    return (yield* sql.get<{ n: number }>(`SELECT count(*) n FROM ${table} WHERE space_key = ?`, [spaceKey]))?.n ?? 0
  }
  return {
    entities: quota.maxGraphEntityCount - (yield* count('graph_entities')),
    relations: quota.maxGraphRelationCount - (yield* count('graph_relations')),
  }
}

/**
 * Stores what a version says, in slices. Entities and relations that are known keep their ids; what the part that was
 * read stated before and does not any more is taken back, so storing twice changes nothing. Cut short by a crash, it is
 * done again: the version is marked as read last.
 */
export async function storeExtraction(
  db: Database,
  of: ReadPart,
  extraction: Extraction,
  room: GraphRoom,
): Promise<Indexed> {
  const indexed: Indexed = { entities: new Set(), relations: new Set(), changed: new Set() }
  const keys = new Map<string, number>()
  const stated = { mentions: new Set<string>(), relations: new Set<string>() }
  const mayTakeBack = db.now(statedBefore(of))
  // it may be purged meanwhile, and then nothing would remove the rows
  const write = async (work: () => void): Promise<void> => {
    await db.write(function* () {
      if ((yield* sql.get('SELECT 1 one FROM versions WHERE key = ?', [of.versionKey])) !== undefined) work()
    })
    await turn()
  }
  for (const slice of slicesOf([...extraction.entities.values()]))
    await write(() => {
      for (const entity of slice) db.now(writeEntity(of, entity, { keys, room, indexed, stated: stated.mentions }))
    })
  for (const slice of slicesOf([...extraction.relations.values()]))
    await write(() => {
      for (const relation of slice)
        db.now(writeRelation(of, relation, { keys, room, indexed, stated: stated.relations }))
    })
  if (mayTakeBack) {
    await takeBack(db, 'graph_relation_nodes', 'relation_key', of, stated.relations, indexed, write)
    await takeBack(db, 'graph_mentions', 'entity_key', of, stated.mentions, indexed, write)
  }
  if (of.nodes === undefined) await write(() => db.now(finishVersion(of)))
  return indexed
}

/** Whether the part may have stated something before: looking through a long version for some nodes takes its time. */
function* statedBefore({ nodes, byModel }: ReadPart): Read<boolean> {
  if (nodes === undefined) return true
  const row = yield* sql.get<{ one: number }>(
    `SELECT 1 one FROM json_each(?) wanted CROSS JOIN graph_mentions m INDEXED BY graph_mentions_node
       ON m.node_key = wanted.value AND m.by_model = ? LIMIT 1`,
    [JSON.stringify([...nodes]), byModel ? 1 : 0],
  )
  return row !== undefined
}

function* slicesOf<T>(all: readonly T[]): Generator<T[]> {
  for (let start = 0; start < all.length; start += SLICE) yield all.slice(start, start + SLICE)
}

interface Writing {
  /** row keys of entities by canonical key */
  keys: Map<string, number>
  room: GraphRoom
  indexed: Indexed
  /** `owner:node` of what is stated now */
  stated: Set<string>
}

function* writeEntity(of: ReadPart, { found, names, nodes }: ExtractedEntity, writing: Writing): Write<void> {
  const known = yield* sql.get<KnownEntity>(
    'SELECT key, type FROM graph_entities WHERE space_key = ? AND canonical_key = ?',
    [of.spaceKey, found.canonicalKey],
  )
  if (known === undefined && writing.room.entities-- <= 0) return
  const now = Date.now()
  const key = known?.key ?? (yield* insertEntity(of.spaceKey, found, now))
  // a better rule's type wins over `term`
  if (known?.type === 'term' && found.type !== 'term')
    yield* sql.run('UPDATE graph_entities SET type = ?, name = ?, confidence = ?, updated_at = ? WHERE key = ?', [
      found.type,
      found.name,
      found.confidence,
      now,
      key,
    ])
  writing.keys.set(found.canonicalKey, key)
  writing.indexed.entities.add(key)
  for (const name of names) {
    const plain = canonicalKey(name)
    yield* sql.run(
      `INSERT INTO graph_names (entity_key, version_key, name, type, confidence, alias_key) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET type = excluded.type, confidence = excluded.confidence, alias_key = excluded.alias_key`,
      [key, of.versionKey, name, found.type, found.confidence, plain === found.canonicalKey ? null : plain],
    )
  }
  for (const node of nodes) {
    writing.stated.add(`${key}:${node}`)
    const { changes } = yield* sql.run(
      'INSERT OR IGNORE INTO graph_mentions (entity_key, node_key, version_key, by_model) VALUES (?, ?, ?, ?)',
      [key, node, of.versionKey, of.byModel ? 1 : 0],
    )
    if (changes > 0) writing.indexed.changed.add(node)
  }
}

function* insertEntity(spaceKey: number, found: FoundEntity, now: number): Write<number> {
  return (yield* sql.run(
    `INSERT INTO graph_entities (id, space_key, type, canonical_key, name, confidence, extraction_version, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [newId(), spaceKey, found.type, found.canonicalKey, found.name, found.confidence, EXTRACTION_VERSION, now, now],
  )).key
}

function* writeRelation(of: ReadPart, relation: ExtractedRelation, writing: Writing): Write<void> {
  const { subject, object, type, predicate, confidence, nodes } = relation
  const ends = [writing.keys.get(subject), writing.keys.get(object)]
  if (ends[0] === undefined || ends[1] === undefined) return
  const known = yield* sql.get<{ key: number }>(
    'SELECT key FROM graph_relations WHERE subject_key = ? AND object_key = ? AND type = ? AND predicate = ?',
    [ends[0], ends[1], type, predicate],
  )
  if (known === undefined && writing.room.relations-- <= 0) return
  const now = Date.now()
  const key =
    known?.key ??
    (yield* sql.run(
      `INSERT INTO graph_relations (id, space_key, subject_key, object_key, type, predicate, confidence,
         extraction_version, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [newId(), of.spaceKey, ends[0], ends[1], type, predicate, confidence, EXTRACTION_VERSION, now, now],
    )).key
  writing.indexed.relations.add(key)
  for (const node of nodes) {
    writing.stated.add(`${key}:${node}`)
    const { changes } = yield* sql.run(
      'INSERT OR IGNORE INTO graph_relation_nodes (relation_key, node_key, version_key, by_model) VALUES (?, ?, ?, ?)',
      [key, node, of.versionKey, of.byModel ? 1 : 0],
    )
    if (changes > 0) writing.indexed.changed.add(node)
  }
}

/** Removes what was stated before and is not now; triggers remove what nothing states any more. */
async function takeBack(
  db: Database,
  table: 'graph_mentions' | 'graph_relation_nodes',
  column: 'entity_key' | 'relation_key',
  of: ReadPart,
  stated: ReadonlySet<string>,
  indexed: Indexed,
  write: (work: () => void) => Promise<void>,
): Promise<void> {
  const rows = db.now(
    sql.all<{ owner: number; node_key: number }>(
      `SELECT ${column} owner, node_key FROM ${table} WHERE version_key = ? AND by_model = ?`,
      [of.versionKey, of.byModel ? 1 : 0],
    ),
  )
  const gone = rows.filter(
    ({ owner, node_key }) => (of.nodes?.has(node_key) ?? true) && !stated.has(`${owner}:${node_key}`),
  )
  for (const slice of slicesOf(gone))
    await write(() => {
      for (const { owner, node_key } of slice) {
        db.now(sql.run(`DELETE FROM ${table} WHERE ${column} = ? AND node_key = ?`, [owner, node_key]))
        indexed.changed.add(node_key)
      }
    })
}

function* finishVersion({ spaceKey, versionKey }: ReadPart): Write<void> {
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
