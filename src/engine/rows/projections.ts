import { type Read, sql } from '../storage/program.js'

/** Nodes of versions that are published, and of those on their way there. */
export interface NodeCounts {
  ready: number
  building: number
}

export function* countNodes(spaceKey: number): Read<NodeCounts> {
  const row = yield* sql.get<{ ready: number | null; building: number | null }>(
    `SELECT sum(CASE WHEN from_revision IS NOT NULL THEN node_count ELSE 0 END) ready,
            sum(CASE WHEN from_revision IS NULL THEN node_count ELSE 0 END) building
     FROM versions WHERE space_key = ? AND until_revision IS NULL`,
    [spaceKey],
  )
  return { ready: row?.ready ?? 0, building: row?.building ?? 0 }
}

/** Documents without any version. */
export function* countFailedDocuments(spaceKey: number): Read<number> {
  return (
    (yield* sql.get<{ n: number }>(
      "SELECT count(*) n FROM documents WHERE space_key = ? AND parser_status = 'failed' AND deleted_at IS NULL",
      [spaceKey],
    ))?.n ?? 0
  )
}

/** Whether documents of a space are compiled, or vectors for another model are made. */
export function* isBuilding(spaceKey: number): Read<boolean> {
  const row = yield* sql.get<{ busy: number }>(
    `SELECT EXISTS (SELECT 1 FROM jobs WHERE space_key = ? AND completed_at IS NULL)
       OR EXISTS (SELECT 1 FROM vector_spaces WHERE space_key = ? AND state = 'building') busy`,
    [spaceKey, spaceKey],
  )
  return row?.busy !== 0
}

/** The key of a vector space, as long as it is the one that answers. */
export function* activeVectorSpace(id: string): Read<number | undefined> {
  const model = yield* sql.get<{ key: number }>("SELECT key FROM vector_spaces WHERE id = ? AND state = 'active'", [id])
  return model?.key
}

/** Counts some vectors of a vector space. @returns also the node of the last one, null where there was none */
export function* countVectors(
  vectorSpace: number,
  after: number,
  most: number,
): Read<{ n: number; last: number | null }> {
  const slice = yield* sql.get<{ n: number; last: number | null }>(
    `SELECT count(*) n, max(node_key) last FROM
         (SELECT node_key FROM vectors WHERE vector_space = ? AND node_key > ? ORDER BY node_key LIMIT ?)`,
    [vectorSpace, after, most],
  )
  return slice ?? { n: 0, last: null }
}

/** Keys of versions that may have vectors and are not published, or not any more. */
export function* versionsNotShown(spaceKey: number): Read<number[]> {
  const versions = yield* sql.all<{ key: number }>(
    `SELECT key FROM versions INDEXED BY versions_inactive
       WHERE space_key = ? AND until_revision IS NOT NULL AND first_node IS NOT NULL
     UNION ALL SELECT key FROM versions WHERE space_key = ? AND until_revision IS NULL AND from_revision IS NULL`,
    [spaceKey, spaceKey],
  )
  return versions.map(({ key }) => key)
}

/** Vectors of the nodes of versions, which are looked up one by one. */
export function* countVectorsOf(vectorSpace: number, versionKeys: readonly number[]): Read<number> {
  let found = 0
  for (const key of versionKeys)
    found +=
      (yield* sql.get<{ n: number }>(
        `SELECT count(*) n FROM nodes CROSS JOIN vectors ON vectors.vector_space = ? AND vectors.node_key = nodes.key
         WHERE nodes.version_key = ?`,
        [vectorSpace, key],
      ))?.n ?? 0
  return found
}

/** Entities and relations of a space, and whether any document was read for them. */
export function* graphSize(spaceKey: number): Read<{ size: number; isBegun: boolean }> {
  const row = yield* sql.get<{ n: number }>(
    `SELECT (SELECT count(*) FROM graph_entities WHERE space_key = ?)
          + (SELECT count(*) FROM graph_relations WHERE space_key = ?) n`,
    [spaceKey, spaceKey],
  )
  const begun = yield* sql.get('SELECT 1 one FROM graph_versions WHERE space_key = ? LIMIT 1', [spaceKey])
  return { size: row?.n ?? 0, isBegun: begun !== undefined }
}
