import { KsError } from '../../../contract/errors.js'
import { newId } from '../../../lib/ids.js'
import type { PreparedNode } from '../compiled.js'
import { type Bindable, type Read, sql, type Write } from '../program.js'
import { countSpaceNodes } from './projections.js'

/** Row keys of the owners of nodes. */
export interface NodeOwner {
  spaceKey: number
  docKey: number
  versionKey: number
  /** the key of the version's first node */
  firstNode: number
}

/** The embedded texts of a passage, and its document. */
export interface EmbeddingInputRow {
  key: number
  doc_key: number
  title: string
  text: string
}

/**
 * Reserves row keys: the nodes of a version have consecutive keys, even when other versions are written at the same
 * time. Run it in a separate transaction: until its commit it locks the single row of all keys. Unused keys are never
 * assigned again.
 *
 * @returns the first reserved key
 */
export function* reserveNodeKeys(count: number): Write<number> {
  const [keys] = yield* sql.returning<{ last: number }>('UPDATE node_keys SET last = last + ? RETURNING last', [count])
  if (keys === undefined) throw new KsError('data-damaged', 'the row of node_keys with the last used key is missing')
  return keys.last - count + 1
}

/**
 * Inserts further nodes of a version under its reserved keys from `firstNode` on, inside the caller's transaction,
 * which also appends them to the index log.
 */
export function* insertNodes(owner: NodeOwner, nodes: readonly PreparedNode[]): Write<void> {
  const { firstNode, versionKey } = owner
  yield* insertNodesOfVersions([{ owner, nodes }])
  const last = firstNode + (nodes.at(-1)?.ordinal ?? 0)
  yield* sql.run('UPDATE versions SET first_node = ?, last_node = ?, node_count = node_count + ? WHERE key = ?', [
    firstNode,
    last,
    nodes.length,
    versionKey,
  ])
}

/** The same for versions whose rows already have their node counts. */
export function* insertNodesOfVersions(
  versions: readonly { owner: NodeOwner; nodes: readonly PreparedNode[] }[],
): Write<void> {
  yield* sql.runEach(
    `INSERT INTO nodes (key, id, space_key, doc_key, version_key, ordinal, title, text, section, outline_node, elements,
       start_offset, end_offset, page, kind, shows, row_hash)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    versions.flatMap(({ owner, nodes }) => nodes.map((node) => toNodeCells(owner, node))),
  )
}

function toNodeCells({ firstNode, spaceKey, docKey, versionKey }: NodeOwner, node: PreparedNode): Bindable[] {
  return [
    firstNode + node.ordinal,
    newId(),
    spaceKey,
    docKey,
    versionKey,
    node.ordinal,
    ...toContentCells(node),
    node.hash,
  ]
}

/** The content of a passage and its location in the document: the columns from `title` to `shows`. */
export function toContentCells(node: PreparedNode): Bindable[] {
  return [
    node.title,
    node.text,
    node.section,
    node.outlineNodeId,
    node.elements,
    node.startOffset,
    node.endOffset,
    node.pageNumber ?? null,
    node.kind,
    node.shows ?? null,
  ]
}

export function* listNodesOfVersion(versionKey: number): Read<{ key: number; title: string; text: string }[]> {
  return yield* sql.all('SELECT key, title, text FROM nodes WHERE version_key = ? ORDER BY ordinal', [versionKey])
}

export function* hasNode(key: number): Read<boolean> {
  return yield* sql.exists('SELECT 1 one FROM nodes WHERE key = ?', [key])
}

/** Key of the newest node of a space; 0 if there is none. */
export function* findLastNodeKey(spaceKey: number): Read<number> {
  const row = yield* sql.get<{ key: number | null }>('SELECT max(key) key FROM nodes WHERE space_key = ?', [spaceKey])
  return row?.key ?? 0
}

/** Whether a space has passages, in current versions or in versions before publication. */
export function* hasPassages(spaceKey: number): Read<boolean> {
  return yield* sql.exists(
    `SELECT 1 one FROM nodes INDEXED BY nodes_place JOIN versions INDEXED BY versions_at ON versions.key = nodes.version_key
       WHERE nodes.space_key = ? AND versions.until_revision IS NULL LIMIT 1`,
    [spaceKey],
  )
}

/**
 * Of the next `limit` nodes of a space, those in versions that are not superseded and that have no vector yet.
 *
 * @param vectorSpace row key
 * @returns with the key of the last node that was read; undefined after the end
 */
export function* listUnembeddedAfter(
  spaceKey: number,
  vectorSpace: number,
  after: number,
  limit: number,
): Read<{ rows: EmbeddingInputRow[]; last: number } | undefined> {
  const slice = yield* sql.get<{ last: number | null }>(
    `SELECT max(key) last FROM
         (SELECT key FROM nodes INDEXED BY nodes_place WHERE space_key = ? AND key > ? ORDER BY key LIMIT ?)`,
    [spaceKey, after, limit],
  )
  const last = slice?.last ?? null
  if (last === null) return undefined
  const rows = yield* sql.all<EmbeddingInputRow>(
    `SELECT nodes.key, nodes.doc_key, nodes.title, nodes.text
       FROM nodes INDEXED BY nodes_place JOIN versions INDEXED BY versions_at ON versions.key = nodes.version_key
       LEFT JOIN vectors ON vectors.vector_space = ? AND vectors.node_key = nodes.key
       WHERE nodes.space_key = ? AND nodes.key > ? AND nodes.key <= ? AND versions.until_revision IS NULL
         AND vectors.node_key IS NULL
       ORDER BY nodes.key`,
    [vectorSpace, spaceKey, after, last],
  )
  return { rows, last }
}

/** Published passages of a space, in key order. */
export function* listPublishedAfter(
  spaceKey: number,
  after: number,
  limit: number,
): Read<{ key: number; title: string; text: string }[]> {
  return yield* sql.all(
    `SELECT nodes.key, nodes.title, nodes.text FROM nodes INDEXED BY nodes_place JOIN versions INDEXED BY versions_at ON versions.key = nodes.version_key
       WHERE nodes.key > ? AND nodes.space_key = ? AND versions.from_revision IS NOT NULL AND versions.until_revision IS NULL
       ORDER BY nodes.key LIMIT ?`,
    [after, spaceKey, limit],
  )
}

/** Number of published passages of a space. */
export function* countPublishedNodes(spaceKey: number): Read<number> {
  return (yield* countSpaceNodes(spaceKey)).ready
}
