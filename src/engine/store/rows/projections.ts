import { type Read, sql } from '../program.js'

/** Number of nodes of published versions, and of versions before publication. */
export interface NodeCounts {
  ready: number
  building: number
}

export function* countSpaceNodes(spaceKey: number): Read<NodeCounts> {
  // triggers count all of them, and few versions are before publication
  const row = yield* sql.get<{ live: number | null; building: number | null }>(
    `SELECT (SELECT node_count FROM space_usage WHERE space_key = ?) live,
       (SELECT sum(node_count) FROM versions INDEXED BY versions_live
        WHERE space_key = ? AND until_revision IS NULL AND from_revision IS NULL) building`,
    [spaceKey, spaceKey],
  )
  const building = row?.building ?? 0
  return { ready: (row?.live ?? 0) - building, building }
}

/** Documents without any version. */
export function* countFailedDocuments(spaceKey: number): Read<number> {
  return yield* sql.count(
    "SELECT count(*) n FROM documents INDEXED BY documents_failed WHERE space_key = ? AND parser_status = 'failed' AND deleted_at IS NULL",
    [spaceKey],
  )
}

/** Whether documents of a space are being compiled, or vectors of another model are being computed. */
export function* isSpaceBuilding(spaceKey: number): Read<boolean> {
  const row = yield* sql.get<{ busy: number }>(
    `SELECT EXISTS (SELECT 1 FROM jobs INDEXED BY jobs_open WHERE space_key = ? AND completed_at IS NULL)
       OR EXISTS (SELECT 1 FROM vector_spaces WHERE space_key = ? AND state = 'building') busy`,
    [spaceKey, spaceKey],
  )
  return row?.busy !== 0
}

/** The key of a vector space, if it is the active one. */
export function* findActiveVectorSpace(id: string): Read<number | undefined> {
  const vectorSpace = yield* sql.get<{ key: number }>(
    "SELECT key FROM vector_spaces WHERE id = ? AND state = 'active'",
    [id],
  )
  return vectorSpace?.key
}

/** Number of vectors whose nodes are current or being built; triggers count them. */
export function* getLiveVectorCount(vectorSpace: number): Read<number> {
  const counted = yield* sql.get<{ live: number }>('SELECT live FROM vector_counts WHERE vector_space = ?', [
    vectorSpace,
  ])
  return counted?.live ?? 0
}

/** Keys of versions that are being built. */
export function* listBuildingVersions(spaceKey: number): Read<number[]> {
  const versions = yield* sql.all<{ key: number }>(
    'SELECT key FROM versions INDEXED BY versions_live WHERE space_key = ? AND until_revision IS NULL AND from_revision IS NULL',
    [spaceKey],
  )
  return versions.map(({ key }) => key)
}

/** Number of vectors of the nodes of versions, looked up one by one. */
export function* countVectorsOfVersions(vectorSpace: number, versionKeys: readonly number[]): Read<number> {
  let count = 0
  for (const key of versionKeys)
    count += yield* sql.count(
      `SELECT count(*) n FROM nodes CROSS JOIN vectors ON vectors.vector_space = ? AND vectors.node_key = nodes.key
         WHERE nodes.version_key = ?`,
      [vectorSpace, key],
    )
  return count
}

/** Number of entities and relations of a space, and whether any document was extracted for them. */
export function* getGraphSize(spaceKey: number): Read<{ size: number; isBegun: boolean }> {
  return {
    size: yield* sql.count(
      `SELECT (SELECT count(*) FROM graph_entities WHERE space_key = ?)
            + (SELECT count(*) FROM graph_relations WHERE space_key = ?) n`,
      [spaceKey, spaceKey],
    ),
    isBegun: yield* sql.exists('SELECT 1 one FROM graph_versions WHERE space_key = ? LIMIT 1', [spaceKey]),
  }
}
