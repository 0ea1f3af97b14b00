import type { PreparedNode } from '../../../store/compiled.js'
import { type Read, sql } from '../../../store/program.js'

/** The hashed columns of a passage, and the stored hash. */
export interface HashedNode {
  key: number
  id: string
  version_key: number
  title: string
  text: string
  start_offset: number
  end_offset: number
  row_hash: Uint8Array
}

/** A space's passages, by key. */
export function* listHashedNodes(spaceKey: number, after: number, limit: number): Read<HashedNode[]> {
  return yield* sql.allAsStored<HashedNode>(
    `SELECT key, id, version_key, title, text, start_offset, end_offset, row_hash FROM nodes INDEXED BY nodes_place
     WHERE space_key = ? AND key > ? ORDER BY key LIMIT ?`,
    [spaceKey, after, limit],
  )
}

export interface NodeReferences {
  key: number
  id: string
  ordinal: number
  outline_node: string
  elements: string
}

/** The references of the passages of a version, in their order. */
export function* listNodeReferences(versionKey: number, after: number, limit: number): Read<NodeReferences[]> {
  return yield* sql.allAsStored<NodeReferences>(
    'SELECT key, id, ordinal, outline_node, elements FROM nodes WHERE version_key = ? AND ordinal > ? ORDER BY ordinal LIMIT +?',
    [versionKey, after, limit],
  )
}

/** The same for some versions, by their keys; undefined if there are `limit` passages or more. */
export function* listReferencesByVersion(
  versionKeys: readonly number[],
  limit: number,
): Read<Map<number, NodeReferences[]> | undefined> {
  const rows = yield* sql.allAsStored<NodeReferences & { version_key: number }>(
    `SELECT nodes.key, nodes.version_key, nodes.id, ordinal, outline_node, elements FROM json_each(?) wanted
     CROSS JOIN nodes INDEXED BY nodes_version ON nodes.version_key = wanted.value
     ORDER BY wanted.key, ordinal LIMIT +?`,
    [JSON.stringify(versionKeys), limit],
  )
  if (rows.length >= limit) return undefined
  const byVersion = new Map(versionKeys.map((key): [number, NodeReferences[]] => [key, []]))
  for (const row of rows) byVersion.get(row.version_key)?.push(row)
  return byVersion
}

export interface NodePresence {
  key: number
  id: string
  /** 1 if its version does not exist: no read shows it */
  stray: number
  bytes: number
}

/** A space's passages, by key, and whether their versions exist. */
export function* listNodePresence(spaceKey: number, after: number, limit: number): Read<NodePresence[]> {
  return yield* sql.allAsStored<NodePresence>(
    `SELECT key, id, NOT EXISTS (SELECT 1 FROM versions WHERE versions.key = nodes.version_key) stray,
       octet_length(text) bytes
     FROM nodes INDEXED BY nodes_place WHERE space_key = ? AND key > ? ORDER BY key LIMIT ?`,
    [spaceKey, after, limit],
  )
}

export function* findNodeKeyById(spaceKey: number, id: string): Read<number | undefined> {
  const node = yield* sql.getAsStored<{ key: number }>('SELECT key FROM nodes WHERE space_key = ? AND id = ?', [
    spaceKey,
    id,
  ])
  return node?.key
}

/** The columns of `nodes` that a repair compares. */
export interface StoredNode {
  key: number
  id: string
  ordinal: number
  title: string
  text: string
  section: string
  outline_node: string
  elements: string
  start_offset: number
  end_offset: number
  page: number | null
  kind: PreparedNode['kind']
  row_hash: Uint8Array
}

export function* listStoredNodes(versionKey: number): Read<StoredNode[]> {
  return yield* sql.allAsStored<StoredNode>('SELECT * FROM nodes WHERE version_key = ? ORDER BY ordinal', [versionKey])
}

/** A live passage with its vector in a vector space. */
export interface IndexedNodeRow {
  key: number
  id: string
  doc_key: number
  document: string
  title: string
  text: string
  vector: Uint8Array | null
}

/** @param vectorSpaceKey if undefined, no passage has a vector */
export function* listIndexedNodes(
  spaceKey: number,
  vectorSpaceKey: number | undefined,
  after: number,
  limit: number,
): Read<IndexedNodeRow[]> {
  return yield* sql.allAsStored<IndexedNodeRow>(
    `SELECT nodes.key, nodes.id, nodes.doc_key, nodes.title, nodes.text, documents.id document, vectors.vector
     FROM nodes INDEXED BY nodes_place JOIN versions INDEXED BY versions_at ON versions.key = nodes.version_key
     JOIN documents ON documents.key = nodes.doc_key
     LEFT JOIN vectors ON vectors.vector_space = ? AND vectors.node_key = nodes.key
     WHERE nodes.space_key = ? AND nodes.key > ? AND versions.until_revision IS NULL AND versions.from_revision IS NOT NULL
     ORDER BY nodes.key LIMIT ?`,
    [vectorSpaceKey ?? -1, spaceKey, after, limit],
  )
}

/** Whether a passage's version is not superseded. */
export function* isNodeLive(nodeKey: number): Read<boolean> {
  return yield* sql.exists(
    `SELECT 1 one FROM nodes JOIN versions ON versions.key = nodes.version_key
       WHERE nodes.key = ? AND versions.until_revision IS NULL`,
    [nodeKey],
  )
}
