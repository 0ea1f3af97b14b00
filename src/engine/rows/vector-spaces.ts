import { KsError } from '../../contract/errors.js'
import { encodeHalf } from '../storage/half.js'
import { type Read, sql, type Write } from '../storage/program.js'
import { OF_THE_GONE } from './gateways.js'
import { type SpaceRow, spaceByKey } from './spaces.js'

/** Vectors that can be compared with one another: one embedding model of one space. */
export interface VectorSpace {
  key: number
  id: string
  dimension: number
  /** nodes a trained model has seen; 0 for a model that needs no training */
  trainedNodes: number
}

type State = 'building' | 'active' | 'superseded'

/** The vector space that queries use now; a space has none before its first model. */
export function* activeVectorSpace(space: SpaceRow): Read<VectorSpace | undefined> {
  return yield* vectorSpaceIn('active', space.key, space.vector_space)
}

/** A vector space of a space by its id, as long as it is in a state. */
export function* vectorSpaceIn(state: State, spaceKey: number, id: string): Read<VectorSpace | undefined> {
  const row = yield* sql.get<{ key: number; id: string; dimension: number; trained_nodes: number }>(
    `SELECT key, id, dimension, trained_nodes FROM vector_spaces WHERE id = ? AND space_key = ? AND state = '${state}'`,
    [id, spaceKey],
  )
  return row === undefined
    ? undefined
    : { key: row.key, id: row.id, dimension: row.dimension, trainedNodes: row.trained_nodes }
}

export function* modelBytes(vectorSpaceId: string): Read<Uint8Array | undefined> {
  return (
    (yield* sql.get<{ model: Uint8Array | null }>('SELECT model FROM vector_spaces WHERE id = ?', [vectorSpaceId]))
      ?.model ?? undefined
  )
}

/** Makes a vector space of a provider's model, inside the caller's transaction. @param revision of the space's embedding */
export function* insertVectorSpace(
  spaceKey: number,
  id: string,
  revision: number,
  dimension: number,
  state: State,
): Write<VectorSpace> {
  const key = yield* sql.inserted(
    `INSERT INTO vector_spaces (id, space_key, revision, dimension, state, created_at) VALUES (?, ?, ?, ?, '${state}', ?)
     RETURNING key`,
    [id, spaceKey, revision, dimension, Date.now()],
  )
  return { key, id, dimension, trainedNodes: 0 }
}

/** Makes a vector space that nobody uses yet, and that a gateway fills, of a model that was trained on so many nodes. */
export function* insertTrained(
  space: SpaceRow,
  id: string,
  { dimension, bytes }: { dimension: number; bytes: Uint8Array },
  trainedNodes: number,
  gateway: string,
): Write<VectorSpace> {
  const key = yield* sql.inserted(
    `INSERT INTO vector_spaces (id, space_key, revision, dimension, trained_nodes, model, state, claimed_by, created_at)
     VALUES (?, ?, ?, ?, ?, ?, 'building', ?, ?) RETURNING key`,
    [id, space.key, space.embedding_revision + 1, dimension, trainedNodes, bytes, gateway, Date.now()],
  )
  return { key, id, dimension, trainedNodes }
}

/**
 * Records the dimension that a provider's first answer showed, inside the caller's transaction.
 *
 * @param vectorSpace that the answer is for
 * @returns nothing when the space has gone, or has another model by now
 * @throws KsError `provider-failed` when it changed
 */
export function* observeDimension(
  spaceKey: number,
  dimension: number,
  vectorSpace: string,
): Write<VectorSpace | undefined> {
  const space = yield* spaceByKey(spaceKey)
  if (space === undefined || space.vector_space !== vectorSpace) return undefined
  const known = yield* activeVectorSpace(space)
  if (known !== undefined) {
    if (known.dimension !== dimension)
      throw new KsError(
        'provider-failed',
        `the embedding model answered with ${dimension} dimensions, this space has ${known.dimension}`,
      )
    return known
  }
  const made = yield* insertVectorSpace(space.key, space.vector_space, space.embedding_revision, dimension, 'active')
  yield* sql.run('UPDATE spaces SET dimension = ? WHERE key = ?', [dimension, space.key])
  return made
}

/** Puts a vector space away, as long as it is in a state where one is named; its vectors are removed later. */
export function* supersede(key: number, state?: State): Write<void> {
  const only = state === undefined ? '' : ` AND state = '${state}'`
  yield* sql.run(`UPDATE vector_spaces SET state = 'superseded' WHERE key = ?${only}`, [key])
}

/** The same of the vector space that a space uses. */
export function* supersedeActive(spaceKey: number): Write<void> {
  yield* sql.run("UPDATE vector_spaces SET state = 'superseded' WHERE space_key = ? AND state = 'active'", [spaceKey])
}

/**
 * Models that gateways left half built which are gone are of no use; what a migration fills, it goes on filling. Their
 * vectors go like those of other models that nobody uses: in slices, behind the start.
 *
 * @returns how many there were
 */
export function* giveUpUnfinished(): Write<number> {
  return (yield* sql.run(
    `UPDATE vector_spaces SET state = 'superseded' WHERE state = 'building' AND ${OF_THE_GONE}
       AND id NOT IN (SELECT vector_space FROM embedding_migrations WHERE completed_at IS NULL)`,
  )).changes
}

/** Whether a model is still being filled. */
export function* isBuilding(key: number): Read<boolean> {
  return (yield* sql.get("SELECT 1 one FROM vector_spaces WHERE key = ? AND state = 'building'", [key])) !== undefined
}

/** Makes a trained vector space the one that queries use, inside the caller's transaction. */
export function* activate(spaceKey: number, next: VectorSpace): Write<void> {
  yield* supersedeActive(spaceKey)
  yield* sql.run("UPDATE vector_spaces SET state = 'active' WHERE key = ? AND state = 'building'", [next.key])
  yield* sql.run(
    'UPDATE spaces SET vector_space = ?, dimension = ?, embedding_revision = embedding_revision + 1 WHERE key = ?',
    [next.id, next.dimension, spaceKey],
  )
}

/** Vector spaces of a space that no query uses any more. */
export function* supersededOf(spaceKey: number): Read<{ key: number; id: string }[]> {
  return yield* sql.all("SELECT key, id FROM vector_spaces WHERE space_key = ? AND state = 'superseded'", [spaceKey])
}

/** Keys of the spaces that have such. */
export function* spacesWithSuperseded(): Read<number[]> {
  const rows = yield* sql.all<{ space_key: number }>(
    "SELECT DISTINCT space_key FROM vector_spaces WHERE state = 'superseded'",
  )
  return rows.map(({ space_key }) => space_key)
}

/** Removes the next vectors of a vector space. @returns how many there were */
export function* deleteVectors(vectorSpace: number, most: number): Write<number> {
  return (yield* sql.run(
    `DELETE FROM vectors WHERE vector_space = ? AND node_key IN
               (SELECT node_key FROM vectors WHERE vector_space = ? ORDER BY node_key LIMIT ?)`,
    [vectorSpace, vectorSpace, most],
  )).changes
}

export function* deleteVectorSpace(key: number): Write<void> {
  yield* sql.run('DELETE FROM vector_spaces WHERE key = ?', [key])
}

/** A vector of one passage. */
export interface FilledVector {
  nodeKey: number
  /** row key of the passage's document */
  doc: number
  vector: Float32Array
}

/** Stores vectors, inside the caller's transaction; a node that has one already keeps the newer. */
export function* insertVectors(
  vectorSpaceKey: number,
  rows: readonly Pick<FilledVector, 'nodeKey' | 'vector'>[],
): Write<void> {
  yield* sql.runEach(
    // no REPLACE: it would remove the old row without the trigger that counts vectors
    `INSERT INTO vectors (vector_space, node_key, vector) VALUES (?, ?, ?)
     ON CONFLICT (vector_space, node_key) DO UPDATE SET vector = excluded.vector`,
    rows.map(({ nodeKey, vector }) => [vectorSpaceKey, nodeKey, encodeHalf(vector)]),
  )
}

/** The same, unless another model has taken its place meanwhile and its vectors are being removed. @returns whether it did */
export function* insertWanted(vectorSpaceKey: number, rows: readonly FilledVector[]): Write<boolean> {
  const row = yield* sql.get<{ state: State }>('SELECT state FROM vector_spaces WHERE key = ?', [vectorSpaceKey])
  if (row === undefined || row.state === 'superseded') return false
  yield* insertVectors(vectorSpaceKey, rows)
  return true
}

/** Passages of a space that are or will be visible and have no vector, by the counters that triggers keep. */
export function* lackingVectors(spaceKey: number, vectorSpaceKey: number): Read<number> {
  const row = yield* sql.get<{ nodes: number | null; vectors: number | null }>(
    `SELECT (SELECT node_count FROM space_usage WHERE space_key = ?) nodes,
       (SELECT live FROM vector_counts WHERE vector_space = ?) vectors`,
    [spaceKey, vectorSpaceKey],
  )
  return (row?.nodes ?? 0) - (row?.vectors ?? 0)
}
