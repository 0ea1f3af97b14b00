import { createHash } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { newId } from '../../lib/ids.js'
import type { StoredArtifact, StoredItem } from '../documents/derived.js'
import { itemName } from '../documents/derived.js'
import type { IndexBatch } from '../search/ports.js'
import type { Database } from '../storage/database.js'
import { pack } from '../storage/packed.js'
import type { CompiledDocument, CompiledNode } from './compiled.js'

/** A compiled document, serialised and hashed: everything the writing transaction needs, computed before it. */
export interface PreparedVersion {
  document: CompiledDocument
  artifact: Uint8Array
  artifactHash: string
  outline: Uint8Array
  items: Uint8Array
  nodeHashes: Uint8Array[]
}

/** Serialises documents, giving the event loop a turn now and then. */
export async function prepareVersion(document: CompiledDocument): Promise<PreparedVersion> {
  const stored: StoredArtifact = { text: document.text, elements: document.elements }
  const items: StoredItem[] = document.items.map(({ asset, ...item }) =>
    asset === undefined
      ? item
      : { ...item, asset: { contentType: asset.contentType, sha256: sha256(asset.bytes), size: asset.bytes.length } },
  )
  const artifact = await pack(stored)
  const prepared = {
    document,
    artifact,
    artifactHash: createHash('sha256').update(document.text).update(JSON.stringify(document.outline)).digest('hex'),
    outline: await pack(document.outline),
    items: await pack(items),
    nodeHashes: document.nodes.map(nodeHash),
  }
  if (document.nodes.length > 50) await turn()
  return prepared
}

/** Hash of what a node says and where it stands; a row whose hash does not match was damaged. */
export function nodeHash(node: Pick<CompiledNode, 'title' | 'text' | 'startOffset' | 'endOffset'>): Uint8Array {
  return createHash('sha256')
    .update(`${node.title}\n${node.startOffset}\n${node.endOffset}\n`)
    .update(node.text)
    .digest()
    .subarray(0, 16)
}

export interface WrittenVersion {
  versionKey: number
  firstNode: number | undefined
  lastNode: number | undefined
  /** sequence of the projection log, where the version has nodes */
  seq: number | undefined
}

/** Writes one version with its nodes, inside the caller's transaction. Nothing is visible before it is published. */
export function insertVersion(
  db: Database,
  owner: { spaceKey: number; docKey: number; version: number },
  prepared: PreparedVersion,
): WrittenVersion {
  const { document } = prepared
  const now = Date.now()
  const versionKey = db.run(
    `INSERT INTO versions (doc_key, space_key, version, title, artifact_id, artifact_hash, content_type, parser, metadata,
       artifact, outline_id, outline, items_id, items, node_count, segment_count, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[owner.docKey, owner.spaceKey, owner.version, document.title, newId(), prepared.artifactHash],
    ...[document.contentType, document.parser, JSON.stringify(versionMetadata(document)), prepared.artifact],
    ...[newId(), prepared.outline, newId(), prepared.items, document.nodes.length, document.elements.length, now],
  ).key
  let firstNode: number | undefined
  let lastNode: number | undefined
  document.nodes.forEach((node, index) => {
    lastNode = insertNode(db, owner, versionKey, node, prepared.nodeHashes[index] ?? nodeHash(node))
    firstNode ??= lastNode
  })
  document.items.forEach((item, index) => {
    if (item.asset === undefined) return
    db.run(
      'INSERT INTO item_assets (version_key, item_id, content_type, sha256, bytes) VALUES (?, ?, ?, ?, ?)',
      ...[versionKey, itemName(item, index), item.asset.contentType, sha256(item.asset.bytes), item.asset.bytes],
    )
  })
  if (firstNode === undefined || lastNode === undefined)
    return { versionKey, firstNode: undefined, lastNode: undefined, seq: undefined }
  db.run('UPDATE versions SET first_node = ?, last_node = ? WHERE key = ?', firstNode, lastNode, versionKey)
  const seq = db.run(
    'INSERT INTO projection_log (space_key, op, first_node, last_node) VALUES (?, 1, ?, ?)',
    owner.spaceKey,
    firstNode,
    lastNode,
  ).key
  return { versionKey, firstNode, lastNode, seq }
}

function insertNode(
  db: Database,
  owner: { spaceKey: number; docKey: number },
  versionKey: number,
  node: CompiledNode,
  hash: Uint8Array,
): number {
  return db.run(
    `INSERT INTO nodes (id, space_key, doc_key, version_key, ordinal, title, text, section, outline_node, elements,
       start_offset, end_offset, page, kind, row_hash)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[newId(), owner.spaceKey, owner.docKey, versionKey, node.ordinal, node.title, node.text],
    ...[JSON.stringify(node.sectionPath), node.outlineNodeId, JSON.stringify(node.sourceElementIds)],
    ...[node.startOffset, node.endOffset, node.pageNumber ?? null, node.kind, hash],
  ).key
}

/**
 * Removes a version that was never published, inside the caller's transaction: its compilation starts over, failed or was
 * canceled. @returns what the index has to forget, where it may know the version's nodes
 */
export function dropUnpublished(db: Database, docKey: number, version: number): IndexBatch | undefined {
  const row = db.get<{ key: number; space_key: number; first_node: number | null; last_node: number | null }>(
    'SELECT key, space_key, first_node, last_node FROM versions WHERE doc_key = ? AND version = ? AND from_revision IS NULL',
    docKey,
    version,
  )
  if (row === undefined) return undefined
  db.run('DELETE FROM nodes WHERE version_key = ?', row.key)
  db.run('DELETE FROM item_assets WHERE version_key = ?', row.key)
  db.run('DELETE FROM versions WHERE key = ?', row.key)
  const { first_node: first, last_node: last } = row
  if (first === null || last === null) return undefined
  db.run(
    `DELETE FROM vectors WHERE vector_space IN (SELECT key FROM vector_spaces WHERE space_key = ?)
       AND node_key BETWEEN ? AND ?`,
    ...[row.space_key, first, last],
  )
  const seq = db.run(
    'INSERT INTO projection_log (space_key, op, first_node, last_node) VALUES (?, -1, ?, ?)',
    ...[row.space_key, first, last],
  ).key
  return { seq, add: [], remove: Array.from({ length: last - first + 1 }, (_, place) => first + place) }
}

function versionMetadata(document: CompiledDocument): Record<string, unknown> {
  return {
    ...document.metadata,
    mediaType: document.mediaType,
    ...(document.language === undefined ? {} : { language: document.language }),
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
