import { defined } from '../../lib/defined.js'
import { newId } from '../../lib/ids.js'
import type { PreparedAsset, PreparedDocument } from '../parse/compiled.js'
import { type Read, sql, type Write } from '../storage/program.js'
import { logRemoved } from './projection-log.js'
import { cutParts, type VersionPart } from './version-parts.js'

/** Row keys of what a version belongs to. */
export interface VersionOwner {
  spaceKey: number
  docKey: number
  version: number
}

/** Passages that one transaction removes at most: those of a larger version are left to the purge. */
const DROPPED_AT_ONCE = 500

/**
 * Writes the row of a version that has no nodes yet, inside the caller's transaction.
 *
 * @param firstNode key of the first of its nodes, where all of them follow in this transaction: the row says it at once
 * @returns with what does not fit into the row
 */
export function* insertVersionRow(
  owner: VersionOwner,
  document: PreparedDocument,
  firstNode?: number,
): Write<{ versionKey: number; parts: VersionPart[] }> {
  const { row, parts } = cutParts(document)
  const count = firstNode === undefined ? 0 : document.nodes.length
  const first = firstNode === undefined || count === 0 ? null : firstNode
  const versionKey = yield* sql.inserted(
    `INSERT INTO versions (doc_key, space_key, version, title, artifact_id, artifact_hash, content_type, parser, metadata,
       artifact, outline_id, outline, items_id, items, first_node, last_node, node_count, segment_count, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key`,
    [
      owner.docKey,
      owner.spaceKey,
      owner.version,
      document.title,
      newId(),
      document.artifactHash,
      document.contentType,
      document.parser,
      JSON.stringify(versionMetadata(document)),
      row.artifact,
      newId(),
      row.outline,
      newId(),
      row.items,
      first,
      first === null ? null : first + count - 1,
      count,
      document.segments,
      Date.now(),
    ],
  )
  return { versionKey, parts }
}

export function* insertAsset(versionKey: number, asset: PreparedAsset): Write<void> {
  yield* sql.run('INSERT INTO item_assets (version_key, item_id, content_type, sha256, bytes) VALUES (?, ?, ?, ?, ?)', [
    versionKey,
    asset.itemId,
    asset.contentType,
    asset.sha256,
    asset.bytes,
  ])
}

/**
 * Removes a version that was never published, inside the caller's transaction: its compilation starts over, failed or was
 * canceled. The rows of a large one are only taken out of everybody's sight; the purge removes them in slices.
 *
 * @returns the log's entry for its nodes, which the index may know; 0 where it has none
 */
export function* dropUnpublished(docKey: number, version: number): Write<number> {
  const row = yield* sql.get<{
    key: number
    space_key: number
    first_node: number | null
    last_node: number | null
    node_count: number
    has_parts: number
  }>(
    `SELECT key, space_key, first_node, last_node, node_count,
       EXISTS (SELECT 1 FROM version_parts WHERE version_key = versions.key) has_parts
     FROM versions WHERE doc_key = ? AND version = ? AND from_revision IS NULL`,
    [docKey, version],
  )
  if (row === undefined) return 0
  const { first_node: first, last_node: last } = row
  if (row.node_count > DROPPED_AT_ONCE || row.has_parts === 1) yield* leaveToPurge(row.key)
  else {
    yield* sql.run(
      `DELETE FROM vectors WHERE vector_space IN (SELECT key FROM vector_spaces WHERE space_key = ?)
         AND node_key BETWEEN ? AND ?`,
      [row.space_key, first, last],
    )
    yield* sql.run('DELETE FROM nodes WHERE version_key = ?', [row.key])
    yield* removeItems(row.key)
    yield* sql.run('DELETE FROM versions WHERE key = ?', [row.key])
  }
  return first === null || last === null ? 0 : yield* logRemoved(row.space_key, first, last)
}

/** Ends a version before the first revision: no revision shows it, its number is free, and the purge takes it next. */
function* leaveToPurge(versionKey: number): Write<void> {
  yield* sql.run('UPDATE versions SET version = -key, until_revision = 0, obsolete_at = 0 WHERE key = ?', [versionKey])
}

function versionMetadata(document: PreparedDocument): Record<string, unknown> {
  return {
    ...document.metadata,
    mediaType: document.mediaType,
    ...defined({ language: document.language }),
  }
}

/** Row key of a version of a document. */
export function* versionKeyOf(docKey: number, version: number): Read<number | undefined> {
  return (yield* sql.get<{ key: number }>('SELECT key FROM versions WHERE doc_key = ? AND version = ?', [
    docKey,
    version,
  ]))?.key
}

/** Whether a version is there under its number: one that is left to the purge has lost it. */
export function* hasVersion(key: number, version: number): Read<boolean> {
  return (yield* sql.get('SELECT 1 one FROM versions WHERE key = ? AND version = ?', [key, version])) !== undefined
}

/** Whether a version is, or may still become, visible at the head. */
export function* isNotOver(key: number): Read<boolean> {
  return (yield* sql.get('SELECT 1 one FROM versions WHERE key = ? AND until_revision IS NULL', [key])) !== undefined
}

/**
 * Makes a version the one that is visible from a revision on, and ends those before it, inside the caller's transaction.
 *
 * @returns the log's last entry for the nodes of those; 0 where they have none
 */
export function* showVersion(spaceKey: number, docKey: number, versionKey: number, revision: number): Write<number> {
  let seq = 0
  for (const old of yield* sql.all<{ key: number; first_node: number | null; last_node: number | null }>(
    'SELECT key, first_node, last_node FROM versions WHERE doc_key = ? AND key <> ? AND until_revision IS NULL',
    [docKey, versionKey],
  )) {
    yield* sql.run('UPDATE versions SET until_revision = ? WHERE key = ?', [revision, old.key])
    if (old.first_node !== null && old.last_node !== null)
      seq = yield* logRemoved(spaceKey, old.first_node, old.last_node)
  }
  yield* sql.run('UPDATE versions SET from_revision = ? WHERE key = ?', [revision, versionKey])
  return seq
}

/** Marks the versions of a document up to a number as obsolete: the purge takes them when no snapshot can show them. */
export function* markObsolete(docKey: number, upTo: number): Write<void> {
  yield* sql.run('UPDATE versions SET obsolete_at = ? WHERE doc_key = ? AND version <= ? AND obsolete_at IS NULL', [
    Date.now(),
    docKey,
    upTo,
  ])
}

/** Removes the pictures of a version. */
export function* removeItems(versionKey: number): Write<void> {
  yield* sql.run('DELETE FROM item_assets WHERE version_key = ?', [versionKey])
}

export function* isVersionThere(versionKey: number): Read<boolean> {
  return (yield* sql.get('SELECT 1 one FROM versions WHERE key = ?', [versionKey])) !== undefined
}
