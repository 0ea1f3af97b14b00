import { newId } from '../../lib/ids.js'
import type { Database } from '../storage/database.js'
import type { EntityType } from './entities.js'
import type { Extraction } from './extract.js'

/** Raised when the rules change: documents read by others are read again. */
export const EXTRACTION_VERSION = 3

/** A row of `graph_entities`. */
interface EntityRow {
  key: number
  id: string
  space_key: number
  type: EntityType
  canonical_key: string
  name: string
  aliases: string
  confidence: number
  extraction_version: number
  metadata: string
  created_at: number
  updated_at: number
}

/** How much more a space's graph may hold; counted down by what is written. */
export interface GraphRoom {
  entities: number
  relations: number
}

const MAX_ALIASES = 10

/** What the quota leaves a space. */
export function graphRoom(
  db: Database,
  spaceKey: number,
  quota: { maxGraphEntityCount: number; maxGraphRelationCount: number },
): GraphRoom {
  const count = (table: 'graph_entities' | 'graph_relations') =>
    db.get<{ n: number }>(`SELECT count(*) n FROM ${table} WHERE space_key = ?`, spaceKey)?.n ?? 0
  return {
    entities: quota.maxGraphEntityCount - count('graph_entities'),
    relations: quota.maxGraphRelationCount - count('graph_relations'),
  }
}

/**
 * Stores what one version says, inside the caller's transaction. Entities and relations that are known keep their ids;
 * what the version stated before and does not any more is taken back, so writing twice changes nothing.
 */
export function writeExtraction(
  db: Database,
  of: { spaceKey: number; versionKey: number },
  extraction: Extraction,
  room: GraphRoom,
): void {
  const keys = writeEntities(db, of, extraction, room)
  const relations = writeRelations(db, of, extraction, keys, room)
  takeBack(db, 'graph_relation_nodes', 'relation_key', of.versionKey, relations)
  takeBack(db, 'graph_mentions', 'entity_key', of.versionKey, keyed(extraction.entities, keys))
  db.run(
    'INSERT OR REPLACE INTO graph_versions (version_key, space_key, extraction_version) VALUES (?, ?, ?)',
    ...[of.versionKey, of.spaceKey, EXTRACTION_VERSION],
  )
}

function keyed(entities: Extraction['entities'], keys: ReadonlyMap<string, number>): Set<string> {
  const stated = new Set<string>()
  for (const [canonical, { nodes }] of entities) {
    const key = keys.get(canonical)
    if (key !== undefined) for (const node of nodes) stated.add(`${key}:${node}`)
  }
  return stated
}

function writeEntities(
  db: Database,
  of: { spaceKey: number; versionKey: number },
  extraction: Extraction,
  room: GraphRoom,
): Map<string, number> {
  const now = Date.now()
  const keys = new Map<string, number>()
  for (const [canonical, { found, nodes }] of extraction.entities) {
    const known = db.get<EntityRow>(
      'SELECT * FROM graph_entities WHERE space_key = ? AND canonical_key = ?',
      ...[of.spaceKey, canonical],
    )
    if (known === undefined && room.entities-- <= 0) continue
    const key = known?.key ?? insertEntity(db, of.spaceKey, found, now)
    if (known !== undefined) learn(db, known, found, now)
    keys.set(canonical, key)
    for (const node of nodes)
      db.run(
        'INSERT OR IGNORE INTO graph_mentions (entity_key, node_key, version_key) VALUES (?, ?, ?)',
        ...[key, node, of.versionKey],
      )
  }
  return keys
}

type Found = Extraction['entities'] extends Map<string, infer Entry extends { found: unknown }> ? Entry['found'] : never

function insertEntity(db: Database, spaceKey: number, found: Found, now: number): number {
  return db.run(
    `INSERT INTO graph_entities (id, space_key, type, canonical_key, name, confidence, extraction_version, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[newId(), spaceKey, found.type, found.canonicalKey, found.name, found.confidence, EXTRACTION_VERSION, now, now],
  ).key
}

/** A better rule's type wins over `term`; another spelling becomes an alias. */
function learn(db: Database, known: EntityRow, found: Found, now: number): void {
  const aliases: string[] = JSON.parse(known.aliases)
  const isNew = found.name !== known.name && !aliases.includes(found.name) && aliases.length < MAX_ALIASES
  const better = known.type === 'term' && found.type !== 'term'
  if (!isNew && !better) return
  db.run(
    'UPDATE graph_entities SET type = ?, confidence = ?, aliases = ?, updated_at = ? WHERE key = ?',
    ...[better ? found.type : known.type, better ? found.confidence : known.confidence],
    ...[JSON.stringify(isNew ? [...aliases, found.name] : aliases), now, known.key],
  )
}

function writeRelations(
  db: Database,
  of: { spaceKey: number; versionKey: number },
  extraction: Extraction,
  keys: ReadonlyMap<string, number>,
  room: GraphRoom,
): Set<string> {
  const now = Date.now()
  const stated = new Set<string>()
  for (const { subject, object, type, confidence, nodes } of extraction.relations.values()) {
    const ends = [keys.get(subject), keys.get(object)]
    if (ends[0] === undefined || ends[1] === undefined) continue
    const known = db.get<{ key: number }>(
      'SELECT key FROM graph_relations WHERE subject_key = ? AND object_key = ? AND type = ?',
      ...[ends[0], ends[1], type],
    )
    if (known === undefined && room.relations-- <= 0) continue
    const key =
      known?.key ??
      db.run(
        `INSERT INTO graph_relations (id, space_key, subject_key, object_key, type, confidence, extraction_version, created_at, updated_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        ...[newId(), of.spaceKey, ends[0], ends[1], type, confidence, EXTRACTION_VERSION, now, now],
      ).key
    for (const node of nodes) {
      stated.add(`${key}:${node}`)
      db.run(
        'INSERT OR IGNORE INTO graph_relation_nodes (relation_key, node_key, version_key) VALUES (?, ?, ?)',
        ...[key, node, of.versionKey],
      )
    }
  }
  return stated
}

/** Removes what a version stated before and does not now; triggers remove what nothing states any more. */
function takeBack(
  db: Database,
  table: 'graph_mentions' | 'graph_relation_nodes',
  column: 'entity_key' | 'relation_key',
  versionKey: number,
  stated: ReadonlySet<string>,
): void {
  const rows = db.all<{ owner: number; node_key: number }>(
    `SELECT ${column} owner, node_key FROM ${table} WHERE version_key = ?`,
    versionKey,
  )
  for (const { owner, node_key } of rows)
    if (!stated.has(`${owner}:${node_key}`))
      db.run(`DELETE FROM ${table} WHERE ${column} = ? AND node_key = ?`, owner, node_key)
}
