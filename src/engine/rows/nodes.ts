import { KsError } from '../../contract/errors.js'
import { newId } from '../../lib/ids.js'
import type { PreparedNode } from '../parse/compiled.js'
import { type Bindable, type Read, sql, type Write } from '../storage/program.js'
import { countNodes } from './projections.js'

/** Row keys of what nodes belong to. */
export interface NodeOwner {
  spaceKey: number
  docKey: number
  versionKey: number
  /** the key of the version's first node */
  firstNode: number
}

/** What is embedded of a passage, with its document. */
export interface PassageRow {
  key: number
  doc_key: number
  title: string
  text: string
}

/**
 * Sets row keys aside: the nodes of a version have consecutive keys, whatever else is stored while they are written. One
 * statement, for a transaction of its own: until its commit it holds the one row of all keys. Keys that are not used in the
 * end are never given again.
 *
 * @returns the first of them
 */
export function* reserveNodeKeys(count: number): Write<number> {
  const [keys] = yield* sql.returning<{ last: number }>('UPDATE node_keys SET last = last + ? RETURNING last', [count])
  if (keys === undefined)
    throw new KsError('data-damaged', 'the row of node_keys is gone, which says what keys are free')
  return keys.last - count + 1
}

/**
 * Writes nodes that follow those a version has, under the keys that were set aside for it from `firstNode` on, inside the
 * caller's transaction, which notes them in the projection log.
 */
export function* insertNodes(owner: NodeOwner, nodes: readonly PreparedNode[]): Write<void> {
  const { firstNode, versionKey } = owner
  yield* insertNodesOf([{ owner, nodes }])
  const last = firstNode + (nodes.at(-1)?.ordinal ?? 0)
  yield* sql.run('UPDATE versions SET first_node = ?, last_node = ?, node_count = node_count + ? WHERE key = ?', [
    firstNode,
    last,
    nodes.length,
    versionKey,
  ])
}

/** The same of versions whose rows say already how many nodes there are. */
export function* insertNodesOf(versions: readonly { owner: NodeOwner; nodes: readonly PreparedNode[] }[]): Write<void> {
  yield* sql.runEach(
    `INSERT INTO nodes (key, id, space_key, doc_key, version_key, ordinal, title, text, section, outline_node, elements,
       start_offset, end_offset, page, kind, shows, row_hash)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    versions.flatMap(({ owner, nodes }) => nodes.map((node) => nodeCells(owner, node))),
  )
}

function nodeCells({ firstNode, spaceKey, docKey, versionKey }: NodeOwner, node: PreparedNode): Bindable[] {
  return [
    firstNode + node.ordinal,
    newId(),
    spaceKey,
    docKey,
    versionKey,
    node.ordinal,
    ...contentCells(node),
    node.hash,
  ]
}

/** What a passage says and where it stands in its document: the columns from `title` to `shows`. */
export function contentCells(node: PreparedNode): Bindable[] {
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

export function* nodesOfVersion(versionKey: number): Read<{ key: number; title: string; text: string }[]> {
  return yield* sql.all('SELECT key, title, text FROM nodes WHERE version_key = ? ORDER BY ordinal', [versionKey])
}

export function* hasNode(key: number): Read<boolean> {
  return (yield* sql.get('SELECT 1 one FROM nodes WHERE key = ?', [key])) !== undefined
}

/** Key of the newest node of a space; 0 where there is none. */
export function* lastNode(spaceKey: number): Read<number> {
  const last = yield* sql.get<{ key: number | null }>('SELECT max(key) key FROM nodes WHERE space_key = ?', [spaceKey])
  return last?.key ?? 0
}

/** Whether a space has passages at all, of current versions or of those on their way there. */
export function* hasPassages(spaceKey: number): Read<boolean> {
  return (
    (yield* sql.get(
      `SELECT 1 one FROM nodes INDEXED BY nodes_place JOIN versions INDEXED BY versions_at ON versions.key = nodes.version_key
       WHERE nodes.space_key = ? AND versions.until_revision IS NULL LIMIT 1`,
      [spaceKey],
    )) !== undefined
  )
}

/**
 * Of the next nodes of a space, at most so many, those of versions that are not over and that have no vector yet.
 *
 * @param vectorSpace row key
 * @returns with the key of the last node that was looked at, or nothing behind the end
 */
export function* unembeddedAfter(
  spaceKey: number,
  vectorSpace: number,
  after: number,
  most: number,
): Read<{ rows: PassageRow[]; last: number } | undefined> {
  const slice = yield* sql.get<{ last: number | null }>(
    `SELECT max(key) last FROM
         (SELECT key FROM nodes INDEXED BY nodes_place WHERE space_key = ? AND key > ? ORDER BY key LIMIT ?)`,
    [spaceKey, after, most],
  )
  const last = slice?.last ?? null
  if (last === null) return undefined
  const rows = yield* sql.all<PassageRow>(
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
export function* publishedAfter(
  spaceKey: number,
  after: number,
  most: number,
): Read<{ key: number; title: string; text: string }[]> {
  return yield* sql.all(
    `SELECT nodes.key, nodes.title, nodes.text FROM nodes INDEXED BY nodes_place JOIN versions INDEXED BY versions_at ON versions.key = nodes.version_key
       WHERE nodes.key > ? AND nodes.space_key = ? AND versions.from_revision IS NOT NULL AND versions.until_revision IS NULL
       ORDER BY nodes.key LIMIT ?`,
    [after, spaceKey, most],
  )
}

/** Published passages of a space. */
export function* countPublished(spaceKey: number): Read<number> {
  return (yield* countNodes(spaceKey)).ready
}
