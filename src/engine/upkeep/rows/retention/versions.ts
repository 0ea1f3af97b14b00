import { sqlHoldsTime } from '../../../store/formats.js'
import { type Read, sql, type Write } from '../../../store/program.js'
import { removeWithinTime } from '../../../store/slices.js'
import { removeNode } from '../purge/parts.js'

/** tables derived from a version's nodes, without their vectors */
const NODE_DERIVED_TABLES = ['graph_relation_nodes', 'graph_mentions', 'graph_versions', 'page_index']

/** Documents whose files were received before a time, oldest first. */
export function* listDocumentsBefore(spaceKey: number, before: number, limit: number): Read<{ id: string }[]> {
  return yield* sql.all<{ id: string }>(
    `SELECT id FROM documents
     WHERE space_key = ? AND created_at < ? AND coalesce(received_at, created_at) < ? AND ${sqlHoldsTime('created_at')}
       AND deleted_at IS NULL
     ORDER BY created_at LIMIT ?`,
    [spaceKey, before, before, limit],
  )
}

export interface SupersededVersion {
  key: number
  doc_key: number
  version: number
  /** number of later published versions of the document */
  newer: number
}

/** A page of superseded versions that are not obsolete, by document and number. */
export function* listSupersededVersions(
  spaceKey: number,
  after: Pick<SupersededVersion, 'doc_key' | 'version'>,
  limit: number,
): Read<SupersededVersion[]> {
  return yield* sql.all<SupersededVersion>(
    `SELECT v.key, v.doc_key, v.version, (SELECT count(*) FROM versions n WHERE n.doc_key = v.doc_key
         AND n.version > v.version AND n.from_revision IS NOT NULL) newer
       FROM versions v INDEXED BY versions_superseded
       WHERE v.space_key = ? AND (v.doc_key, v.version) > (?, ?) AND v.until_revision IS NOT NULL AND v.obsolete_at IS NULL
       ORDER BY v.doc_key, v.version LIMIT ?`,
    [spaceKey, after.doc_key, after.version, limit],
  )
}

/** Marks versions as obsolete: the purge may remove them from now on. */
export function* markVersionsObsolete(versions: readonly { key: number }[], now: number): Write<void> {
  for (const { key } of versions) yield* sql.run('UPDATE versions SET obsolete_at = ? WHERE key = ?', [now, key])
}

/** The first superseded version that still has nodes, if it was superseded before a time, with some of its nodes. */
export function* findInactiveNodes(
  spaceKey: number,
  before: number,
  limit: number,
): Read<{ versionKey: number; nodes: { key: number }[] } | undefined> {
  const version = yield* sql.get<{ key: number }>(
    `SELECT v.key FROM versions v INDEXED BY versions_inactive
     LEFT JOIN publications p ON p.space_key = v.space_key AND p.revision = v.until_revision
     WHERE v.space_key = ? AND v.until_revision IS NOT NULL AND v.first_node IS NOT NULL
       AND coalesce(p.created_at, 0) < ? ORDER BY v.until_revision LIMIT 1`,
    [spaceKey, before],
  )
  if (version === undefined) return undefined
  const nodes = yield* sql.all<{ key: number }>(
    'SELECT key FROM nodes WHERE version_key = ? ORDER BY ordinal LIMIT ?',
    [version.key, limit],
  )
  return { versionKey: version.key, nodes }
}

/**
 * Removes nodes of a version until the time of the slice is over. The version's row is correct after every slice.
 *
 * @param areLast whether the version has no other nodes
 * @returns the number of removed nodes
 */
export function* removeInactiveNodes(
  spaceKey: number,
  { versionKey, nodes }: { versionKey: number; nodes: readonly { key: number }[] },
  areLast: boolean,
): Write<number> {
  const removedCount = yield* removeWithinTime(nodes, ({ key }) => removeNode(spaceKey, key))
  yield* sql.run('UPDATE versions SET node_count = max(0, node_count - ?) WHERE key = ?', [removedCount, versionKey])
  if (areLast && removedCount === nodes.length) yield* clearVersion(versionKey)
  return removedCount
}

/** Removes the data derived from the nodes of a version that has no nodes left. */
function* clearVersion(versionKey: number): Write<void> {
  for (const table of NODE_DERIVED_TABLES) yield* sql.run(`DELETE FROM ${table} WHERE version_key = ?`, [versionKey])
  yield* sql.run('UPDATE versions SET first_node = NULL, last_node = NULL, node_count = 0 WHERE key = ?', [versionKey])
}

export interface ReplacedVectorSpace {
  key: number
  id: string
  vectors: { node_key: number }[]
}

/** A vector space that was replaced before a time, with some of its vectors. */
export function* findReplacedVectorSpace(
  spaceKey: number,
  before: number,
  limit: number,
): Read<ReplacedVectorSpace | undefined> {
  const vectorSpace = yield* sql.get<{ key: number; id: string }>(
    `SELECT key, id FROM vector_spaces old WHERE space_key = ? AND state = 'superseded'
       AND (SELECT min(created_at) FROM vector_spaces newer
            WHERE newer.space_key = old.space_key AND newer.revision > old.revision) < ? LIMIT 1`,
    [spaceKey, before],
  )
  if (vectorSpace === undefined) return undefined
  const vectors = yield* sql.all<{ node_key: number }>(
    'SELECT node_key FROM vectors WHERE vector_space = ? ORDER BY node_key LIMIT ?',
    [vectorSpace.key, limit],
  )
  return { ...vectorSpace, vectors }
}

export function* removeVector(vectorSpaceKey: number, nodeKey: number): Write<void> {
  yield* sql.run('DELETE FROM vectors WHERE vector_space = ? AND node_key = ?', [vectorSpaceKey, nodeKey])
}

export function* removeReplacedVectorSpace(key: number): Write<void> {
  yield* sql.run("DELETE FROM vector_spaces WHERE key = ? AND state = 'superseded'", [key])
}

interface ReplacedPublication {
  tenant: string
  id: string
  replaced_at: number | null
}

/** The oldest replaced publications of a space, and when they were replaced. */
export function* listReplacedPublications(
  space: { key: number; head_revision: number },
  limit: number,
): Read<ReplacedPublication[]> {
  return yield* sql.all<ReplacedPublication>(
    `SELECT p.tenant, p.id, (SELECT n.created_at FROM publications n WHERE n.space_key = p.space_key AND n.revision = p.revision + 1) replaced_at
     FROM publications p WHERE p.space_key = ? AND p.revision < ? ORDER BY p.revision LIMIT ?`,
    [space.key, space.head_revision, limit],
  )
}

export function* removePublication({ tenant, id }: Omit<ReplacedPublication, 'replaced_at'>): Write<void> {
  yield* sql.run('DELETE FROM publications WHERE tenant = ? AND id = ?', [tenant, id])
}
