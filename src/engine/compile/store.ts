import { defined } from '../../lib/defined.js'
import { newId } from '../../lib/ids.js'
import type { PreparedAsset, PreparedDocument, PreparedNode } from '../parse/compiled.js'
import { cutParts, insertPart, type VersionPart } from '../rows/version-parts.js'
import type { IndexBatch } from '../search/ports.js'
import type { Database } from '../storage/database.js'
import { sql, type Write } from '../storage/program.js'

/** Row keys of what a version belongs to. */
export interface VersionOwner {
  spaceKey: number
  docKey: number
  version: number
}

export interface WrittenVersion {
  versionKey: number
  firstNode: number | undefined
  lastNode: number | undefined
  /** sequence of the projection log, where the version has nodes */
  seq: number | undefined
}

/** Passages that one transaction removes at most: those of a larger version are left to the purge. */
const DROPPED_AT_ONCE = 500

/** Writes one version with its nodes, inside the caller's transaction. Nothing is visible before it is published. */
export function* insertVersion(db: Database, owner: VersionOwner, document: PreparedDocument): Write<WrittenVersion> {
  const { versionKey, parts } = yield* insertVersionRow(owner, document)
  for (const part of parts) yield* insertPart(owner.spaceKey, versionKey, part)
  for (const asset of document.assets) yield* insertAsset(versionKey, asset)
  if (document.nodes.length === 0) return { versionKey, firstNode: undefined, lastNode: undefined, seq: undefined }
  const firstNode = yield* reserveNodeKeys(document.nodes.length)
  const seq = yield* insertNodes(db, { ...owner, versionKey, firstNode }, document.nodes)
  return { versionKey, firstNode, lastNode: firstNode + document.nodes.length - 1, seq }
}

/**
 * Writes the row of a version that has no nodes yet, inside the caller's transaction.
 *
 * @returns with what does not fit into the row
 */
export function* insertVersionRow(
  owner: VersionOwner,
  document: PreparedDocument,
): Write<{ versionKey: number; parts: VersionPart[] }> {
  const { row, parts } = cutParts(document)
  const versionKey = (yield* sql.run(
    `INSERT INTO versions (doc_key, space_key, version, title, artifact_id, artifact_hash, content_type, parser, metadata,
       artifact, outline_id, outline, items_id, items, node_count, segment_count, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?)`,
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
      document.segments,
      Date.now(),
    ],
  )).key
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
 * Sets row keys aside, inside the caller's transaction: the nodes of a version have consecutive keys, whoever else stores
 * nodes while they are written.
 *
 * @returns the first of them
 */
export function* reserveNodeKeys(count: number): Write<number> {
  const { changes } = yield* sql.run("UPDATE sqlite_sequence SET seq = seq + ? WHERE name = 'nodes'", [count])
  if (changes === 0) yield* sql.run("INSERT INTO sqlite_sequence (name, seq) VALUES ('nodes', ?)", [count])
  const last = (yield* sql.get<{ seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'nodes'"))?.seq ?? count
  return last - count + 1
}

/**
 * Writes nodes that follow those a version has, under the keys that were set aside for it from `firstNode` on, inside the
 * caller's transaction.
 *
 * @returns sequence of the projection log
 */
export function* insertNodes(
  db: Database,
  owner: VersionOwner & { versionKey: number; firstNode: number },
  nodes: readonly PreparedNode[],
): Write<number> {
  const { spaceKey, docKey, versionKey, firstNode } = owner
  const keys = nodes.map(({ ordinal }) => firstNode + ordinal)
  nodes.forEach((node, place) => {
    db.now(
      sql.run(
        `INSERT INTO nodes (key, id, space_key, doc_key, version_key, ordinal, title, text, section, outline_node, elements,
         start_offset, end_offset, page, kind, row_hash)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        [
          keys[place] ?? null,
          newId(),
          spaceKey,
          docKey,
          versionKey,
          node.ordinal,
          node.title,
          node.text,
          node.section,
          node.outlineNodeId,
          node.elements,
          node.startOffset,
          node.endOffset,
          node.pageNumber ?? null,
          node.kind,
          node.hash,
        ],
      ),
    )
  })
  const [first = firstNode] = keys
  const last = keys.at(-1) ?? first
  yield* sql.run('UPDATE versions SET first_node = ?, last_node = ?, node_count = node_count + ? WHERE key = ?', [
    firstNode,
    last,
    nodes.length,
    versionKey,
  ])
  return (yield* sql.run('INSERT INTO projection_log (space_key, op, first_node, last_node) VALUES (?, 1, ?, ?)', [
    spaceKey,
    first,
    last,
  ])).key
}

/**
 * Removes a version that was never published, inside the caller's transaction: its compilation starts over, failed or was
 * canceled. The rows of a large one are only taken out of everybody's sight; the purge removes them in slices.
 *
 * @returns what the index has to forget, where it may know the version's nodes
 */
export function* dropUnpublished(docKey: number, version: number): Write<IndexBatch | undefined> {
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
  if (row === undefined) return undefined
  const { first_node: first, last_node: last } = row
  if (row.node_count > DROPPED_AT_ONCE || row.has_parts === 1) yield* leaveToPurge(row.key)
  else {
    yield* sql.run(
      `DELETE FROM vectors WHERE vector_space IN (SELECT key FROM vector_spaces WHERE space_key = ?)
         AND node_key BETWEEN ? AND ?`,
      [row.space_key, first, last],
    )
    yield* sql.run('DELETE FROM nodes WHERE version_key = ?', [row.key])
    yield* sql.run('DELETE FROM item_assets WHERE version_key = ?', [row.key])
    yield* sql.run('DELETE FROM versions WHERE key = ?', [row.key])
  }
  if (first === null || last === null) return undefined
  const seq = (yield* sql.run(
    'INSERT INTO projection_log (space_key, op, first_node, last_node) VALUES (?, -1, ?, ?)',
    [row.space_key, first, last],
  )).key
  return { seq, add: [], remove: Array.from({ length: last - first + 1 }, (_, place) => first + place) }
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
