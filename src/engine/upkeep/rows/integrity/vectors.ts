import { type Read, sql } from '../../../store/program.js'

/** A vector with its passage, if that exists. */
export interface OwnedVector {
  vector_space: number
  node_key: number
  vector: Uint8Array
  dimension: number
  node: string | null
  document: string | null
}

/** The vectors of a space's active vector space, by passage. */
export function* listActiveVectors(spaceKey: number, after: number, limit: number): Read<OwnedVector[]> {
  return yield* sql.allAsStored<OwnedVector>(
    `SELECT vectors.vector_space, node_key, vector, vector_spaces.dimension, nodes.id node, documents.id document
     FROM spaces JOIN vector_spaces ON vector_spaces.id = spaces.vector_space
     JOIN vectors ON vectors.vector_space = vector_spaces.key
     LEFT JOIN nodes ON nodes.key = vectors.node_key LEFT JOIN documents ON documents.key = nodes.doc_key
     WHERE spaces.key = ? AND vector_spaces.state = 'active' AND node_key > ?
     ORDER BY node_key LIMIT ?`,
    [spaceKey, after, limit],
  )
}

export interface NodeWithoutVector {
  key: number
  id: string
  document: string
  title: string
  text: string
}

/** Live passages that have no vector and are not due to get one, by key. */
export function* listNodesWithoutVector(
  spaceKey: number,
  vectorSpaceKey: number,
  after: number,
  limit: number,
): Read<NodeWithoutVector[]> {
  return yield* sql.allAsStored<NodeWithoutVector>(
    `SELECT nodes.key, nodes.id, documents.id document, nodes.title, nodes.text
     FROM nodes INDEXED BY nodes_place JOIN versions INDEXED BY versions_at ON versions.key = nodes.version_key
     JOIN documents ON documents.key = nodes.doc_key
     LEFT JOIN vectors ON vectors.vector_space = ? AND vectors.node_key = nodes.key
     WHERE nodes.space_key = ? AND nodes.key > ? AND versions.until_revision IS NULL AND versions.from_revision IS NOT NULL
       AND vectors.node_key IS NULL
       AND NOT EXISTS (SELECT 1 FROM vectors_due WHERE version_key = versions.key)
     ORDER BY nodes.key LIMIT ?`,
    [vectorSpaceKey, spaceKey, after, limit],
  )
}

export function* countLiveNodes(spaceKey: number): Read<number> {
  return yield* sql.count(
    `SELECT count(*) n FROM nodes INDEXED BY nodes_place JOIN versions INDEXED BY versions_at ON versions.key = nodes.version_key
       WHERE nodes.space_key = ? AND versions.until_revision IS NULL`,
    [spaceKey],
  )
}

export function* countLiveVectors(vectorSpaceKey: number): Read<number> {
  return yield* sql.count(
    `SELECT count(*) n FROM vectors JOIN nodes ON nodes.key = vectors.node_key
           JOIN versions INDEXED BY versions_at ON versions.key = nodes.version_key
           WHERE vectors.vector_space = ? AND versions.until_revision IS NULL`,
    [vectorSpaceKey],
  )
}

export interface SupersededVectorSpace {
  key: number
  id: string
  vectors: number
  dimension: number
}

/** Superseded vector spaces. None while a new one is built: its migration still needs the old ones. */
export function* listSupersededVectorSpaces(spaceKey: number): Read<SupersededVectorSpace[]> {
  return yield* sql.allAsStored<SupersededVectorSpace>(
    `SELECT key, id, dimension, (SELECT count(*) FROM vectors WHERE vector_space = vector_spaces.key) vectors
     FROM vector_spaces WHERE space_key = ? AND state = 'superseded'
       AND NOT EXISTS (SELECT 1 FROM vector_spaces other WHERE other.space_key = vector_spaces.space_key AND other.state = 'building')
     ORDER BY key`,
    [spaceKey],
  )
}
