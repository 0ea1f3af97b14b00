import { type Read, sql } from '../../store/program.js'

/* The rows that the search indexes are built from. Spaces are identified by their ids, as in the indexes. */

/**
 * The expected content of the complete indexes of a space, by the counters that the triggers of the schema keep: three
 * lookups.
 */
export interface IndexHead {
  key: number
  /** of the newest entry of the index log */
  seq: number | null
  nodes: number | null
  /** id of the active vector space */
  vector_space: string | null
  vector_key: number | null
  dimension: number | null
  vectors: number | null
}

export function* findIndexHead(space: string): Read<IndexHead | undefined> {
  return yield* sql.get<IndexHead>(
    `SELECT spaces.key, (SELECT seq FROM space_counters WHERE space_key = spaces.key) seq,
       (SELECT node_count FROM space_usage WHERE space_key = spaces.key) nodes, vector_spaces.id vector_space,
       vector_spaces.key vector_key, vector_spaces.dimension,
       (SELECT live FROM vector_counts WHERE vector_space = vector_spaces.key) vectors
     FROM spaces LEFT JOIN vector_spaces ON vector_spaces.id = spaces.vector_space AND vector_spaces.state = 'active'
     WHERE spaces.id = ?`,
    [space],
  )
}

/** A passage as the text index stores it. */
export interface IndexTextRow {
  key: number
  doc_key: number
  title: string
  text: string
}

/** Passages of a key range in current versions or in versions before publication, in key order. */
export function* listTextsBetween(space: string, first: number, last: number, limit: number): Read<IndexTextRow[]> {
  return yield* sql.all<IndexTextRow>(
    `SELECT nodes.key, nodes.doc_key, nodes.title, nodes.text FROM nodes INDEXED BY nodes_place JOIN versions INDEXED BY versions_at ON versions.key = nodes.version_key
     WHERE nodes.key BETWEEN ? AND ? AND nodes.space_key = (SELECT key FROM spaces WHERE id = ?) AND versions.until_revision IS NULL
     ORDER BY nodes.key LIMIT ?`,
    [first, last, space, limit],
  )
}

/** A vector space by its id, in any state. */
export function* findVectorSpaceById(
  space: string,
  vectorSpace: string,
): Read<{ key: number; dimension: number; space_key: number } | undefined> {
  return yield* sql.get(
    'SELECT key, dimension, space_key FROM vector_spaces WHERE id = ? AND space_key = (SELECT key FROM spaces WHERE id = ?)',
    [vectorSpace, space],
  )
}

/** A vector as it is stored. */
export interface StoredVectorRow {
  node_key: number
  doc_key: number
  vector: Uint8Array
}

/**
 * Vectors of passages in current versions or in versions before publication, by passage key. @param vectorSpace row key
 */
export function* listVectorsAfter(vectorSpace: number, after: number, limit: number): Read<StoredVectorRow[]> {
  return yield* sql.all<StoredVectorRow>(
    `SELECT vectors.node_key, nodes.doc_key, vectors.vector FROM vectors
     JOIN nodes ON nodes.key = vectors.node_key JOIN versions INDEXED BY versions_at ON versions.key = nodes.version_key
     WHERE vectors.vector_space = ? AND vectors.node_key > ? AND versions.until_revision IS NULL
     ORDER BY vectors.node_key LIMIT ?`,
    [vectorSpace, after, limit],
  )
}

/** The same for some passages, by their keys. */
export function* listVectorsOfNodes(vectorSpace: number, nodeKeys: readonly number[]): Read<StoredVectorRow[]> {
  return yield* sql.all<StoredVectorRow>(
    `SELECT vectors.node_key, nodes.doc_key, vectors.vector FROM json_each(?) wanted
     CROSS JOIN vectors ON vectors.vector_space = ? AND vectors.node_key = wanted.value
     CROSS JOIN nodes ON nodes.key = vectors.node_key CROSS JOIN versions INDEXED BY versions_at ON versions.key = nodes.version_key
     WHERE versions.until_revision IS NULL ORDER BY vectors.node_key`,
    [JSON.stringify(nodeKeys), vectorSpace],
  )
}

/** Number of rows that were read, the key of the last one, and the number of live ones. */
export interface LiveCountSlice {
  looked: number
  last: number | null
  live: number
}

/** Counts passages of a space after `after`, at most `limit` rows. */
export function* countLiveNodesAfter(spaceKey: number, after: number, limit: number): Read<LiveCountSlice | undefined> {
  return yield* sql.get<LiveCountSlice>(
    `SELECT count(*) looked, max(key) last, count(*) FILTER (WHERE live) live FROM
  (SELECT nodes.key, versions.until_revision IS NULL live
   FROM nodes INDEXED BY nodes_place CROSS JOIN versions INDEXED BY versions_at ON versions.key = nodes.version_key
   WHERE nodes.space_key = ? AND nodes.key > ? ORDER BY nodes.key LIMIT ?)`,
    [spaceKey, after, limit],
  )
}

/** The same for the vectors of a vector space. @param vectorSpace row key */
export function* countLiveVectorsAfter(
  vectorSpace: number,
  after: number,
  limit: number,
): Read<LiveCountSlice | undefined> {
  return yield* sql.get<LiveCountSlice>(
    `SELECT count(*) looked, max(key) last, count(*) FILTER (WHERE live) live FROM
  (SELECT vectors.node_key key, versions.until_revision IS NULL live
   FROM vectors CROSS JOIN nodes ON nodes.key = vectors.node_key
     CROSS JOIN versions INDEXED BY versions_at ON versions.key = nodes.version_key
   WHERE vectors.vector_space = ? AND vectors.node_key > ? ORDER BY vectors.node_key LIMIT ?)`,
    [vectorSpace, after, limit],
  )
}
