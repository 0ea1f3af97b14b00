import { KsError } from '../../../contract/errors.js'
import { encodeHalf } from '../half.js'
import { type Read, readClock, sql, type Write } from '../program.js'
import { OF_LOST_GATEWAYS } from './gateways.js'
import { findSpaceByKey, type SpaceRow } from './spaces.js'

/** A set of comparable vectors: one embedding model of one space. */
export interface VectorSpace {
  key: number
  id: string
  dimension: number
  /** number of nodes that a trained model was trained on; 0 for a model without training */
  trainedNodes: number
}

type VectorSpaceState = 'building' | 'active' | 'superseded'

/** The vector space that queries use; undefined before the space's first model. */
export function* getActiveVectorSpace(space: SpaceRow): Read<VectorSpace | undefined> {
  return yield* findVectorSpaceInState('active', space.key, space.vector_space)
}

/** A vector space of a space by its id, if it is in a state. */
export function* findVectorSpaceInState(
  state: VectorSpaceState,
  spaceKey: number,
  id: string,
): Read<VectorSpace | undefined> {
  const row = yield* sql.get<{ key: number; id: string; dimension: number; trained_nodes: number }>(
    `SELECT key, id, dimension, trained_nodes FROM vector_spaces WHERE id = ? AND space_key = ? AND state = '${state}'`,
    [id, spaceKey],
  )
  return row === undefined
    ? undefined
    : { key: row.key, id: row.id, dimension: row.dimension, trainedNodes: row.trained_nodes }
}

export function* findModelBytes(vectorSpaceId: string): Read<Uint8Array | undefined> {
  return (
    (yield* sql.get<{ model: Uint8Array | null }>('SELECT model FROM vector_spaces WHERE id = ?', [vectorSpaceId]))
      ?.model ?? undefined
  )
}

interface NewVectorSpace {
  id: string
  /** revision of the space's embedding */
  revision: number
  dimension: number
  state: VectorSpaceState
}

/** Inserts a vector space for a provider's model, inside the caller's transaction. */
export function* insertVectorSpace(
  spaceKey: number,
  { id, revision, dimension, state }: NewVectorSpace,
): Write<VectorSpace> {
  const key = yield* sql.inserted(
    `INSERT INTO vector_spaces (id, space_key, revision, dimension, state, created_at) VALUES (?, ?, ?, ?, '${state}', ?)
     RETURNING key`,
    [id, spaceKey, revision, dimension, yield* readClock()],
  )
  return { key, id, dimension, trainedNodes: 0 }
}

/** Inserts a vector space for a trained model, which a gateway fills before queries use it. */
export function* insertTrainedVectorSpace(
  space: SpaceRow,
  id: string,
  { dimension, bytes, trainedNodes }: { dimension: number; bytes: Uint8Array; trainedNodes: number },
  gateway: string,
): Write<VectorSpace> {
  const key = yield* sql.inserted(
    `INSERT INTO vector_spaces (id, space_key, revision, dimension, trained_nodes, model, state, claimed_by, created_at)
     VALUES (?, ?, ?, ?, ?, ?, 'building', ?, ?) RETURNING key`,
    [id, space.key, space.embedding_revision + 1, dimension, trainedNodes, bytes, gateway, yield* readClock()],
  )
  return { key, id, dimension, trainedNodes }
}

/**
 * Records the dimension of a provider's first response, inside the caller's transaction.
 *
 * @param vectorSpace id that the response is for
 * @returns undefined when the space is deleted, or has another model now
 * @throws KsError `provider-failed` when the dimension changed
 */
export function* recordDimension(
  spaceKey: number,
  dimension: number,
  vectorSpace: string,
): Write<VectorSpace | undefined> {
  const space = yield* findSpaceByKey(spaceKey)
  if (space === undefined || space.vector_space !== vectorSpace) return undefined
  const active = yield* getActiveVectorSpace(space)
  if (active !== undefined) {
    if (active.dimension !== dimension)
      throw new KsError(
        'provider-failed',
        `the embedding model answered with ${dimension} dimensions, this space has ${active.dimension}`,
      )
    return active
  }
  const inserted = yield* insertVectorSpace(space.key, {
    id: space.vector_space,
    revision: space.embedding_revision,
    dimension,
    state: 'active',
  })
  yield* sql.run('UPDATE spaces SET dimension = ? WHERE key = ?', [dimension, space.key])
  return inserted
}

/** Marks a vector space as superseded, optionally only if it is in a state; its vectors are removed later. */
export function* supersedeVectorSpace(key: number, state?: VectorSpaceState): Write<void> {
  const condition = state === undefined ? '' : ` AND state = '${state}'`
  yield* sql.run(`UPDATE vector_spaces SET state = 'superseded' WHERE key = ?${condition}`, [key])
}

/** The same for the active vector space of a space. */
export function* supersedeActiveVectorSpace(spaceKey: number): Write<void> {
  yield* sql.run("UPDATE vector_spaces SET state = 'superseded' WHERE space_key = ? AND state = 'active'", [spaceKey])
}

/**
 * Marks half-built vector spaces of lost gateways as superseded, except those that a migration continues to fill. Their
 * vectors are removed like those of other superseded vector spaces: in slices, in the background.
 *
 * @returns their number
 */
export function* supersedeOrphanedVectorSpaces(): Write<number> {
  return (yield* sql.run(
    `UPDATE vector_spaces SET state = 'superseded' WHERE state = 'building' AND ${OF_LOST_GATEWAYS}
       AND id NOT IN (SELECT vector_space FROM embedding_migrations WHERE completed_at IS NULL)`,
  )).changes
}

/** Whether a vector space is still being filled. */
export function* isVectorSpaceBuilding(key: number): Read<boolean> {
  return yield* sql.exists("SELECT 1 one FROM vector_spaces WHERE key = ? AND state = 'building'", [key])
}

/** Makes a trained vector space the active one, inside the caller's transaction. */
export function* activateVectorSpace(spaceKey: number, next: VectorSpace): Write<void> {
  yield* supersedeActiveVectorSpace(spaceKey)
  yield* sql.run("UPDATE vector_spaces SET state = 'active' WHERE key = ? AND state = 'building'", [next.key])
  yield* sql.run(
    'UPDATE spaces SET vector_space = ?, dimension = ?, embedding_revision = embedding_revision + 1 WHERE key = ?',
    [next.id, next.dimension, spaceKey],
  )
}

/** Superseded vector spaces of a space. */
export function* listRemovableVectorSpaces(spaceKey: number): Read<{ key: number; id: string }[]> {
  return yield* sql.all("SELECT key, id FROM vector_spaces WHERE space_key = ? AND state = 'superseded'", [spaceKey])
}

/** Keys of the spaces with superseded vector spaces. */
export function* listSpacesWithRemovableVectorSpaces(): Read<number[]> {
  const rows = yield* sql.all<{ space_key: number }>(
    "SELECT DISTINCT space_key FROM vector_spaces WHERE state = 'superseded'",
  )
  return rows.map(({ space_key }) => space_key)
}

/** Removes the next vectors of a vector space. @returns their number */
export function* deleteVectors(vectorSpace: number, limit: number): Write<number> {
  return (yield* sql.run(
    `DELETE FROM vectors WHERE vector_space = ? AND node_key IN
               (SELECT node_key FROM vectors WHERE vector_space = ? ORDER BY node_key LIMIT ?)`,
    [vectorSpace, vectorSpace, limit],
  )).changes
}

export function* deleteVectorSpace(key: number): Write<void> {
  yield* sql.run('DELETE FROM vector_spaces WHERE key = ?', [key])
}

/** The vector of one passage. */
export interface PassageVector {
  nodeKey: number
  /** row key of the passage's document */
  doc: number
  vector: Float32Array
}

/** Stores vectors, inside the caller's transaction; a newer vector replaces an older one. */
export function* insertVectors(
  vectorSpaceKey: number,
  rows: readonly Pick<PassageVector, 'nodeKey' | 'vector'>[],
): Write<void> {
  yield* sql.runEach(
    // no REPLACE: it would remove the old row without the trigger that counts vectors
    `INSERT INTO vectors (vector_space, node_key, vector) VALUES (?, ?, ?)
     ON CONFLICT (vector_space, node_key) DO UPDATE SET vector = excluded.vector`,
    rows.map(({ nodeKey, vector }) => [vectorSpaceKey, nodeKey, encodeHalf(vector)]),
  )
}

/** Stores vectors unless their vector space is superseded and being removed. @returns whether it did */
export function* insertCurrentVectors(vectorSpaceKey: number, rows: readonly PassageVector[]): Write<boolean> {
  const row = yield* sql.get<{ state: VectorSpaceState }>('SELECT state FROM vector_spaces WHERE key = ?', [
    vectorSpaceKey,
  ])
  if (row === undefined || row.state === 'superseded') return false
  yield* insertVectors(vectorSpaceKey, rows)
  return true
}

/**
 * Number of passages without a vector, in current versions and those before publication, by the counters that triggers
 * keep.
 */
export function* countMissingVectors(spaceKey: number, vectorSpaceKey: number): Read<number> {
  const row = yield* sql.get<{ nodes: number | null; vectors: number | null }>(
    `SELECT (SELECT node_count FROM space_usage WHERE space_key = ?) nodes,
       (SELECT live FROM vector_counts WHERE vector_space = ?) vectors`,
    [spaceKey, vectorSpaceKey],
  )
  return (row?.nodes ?? 0) - (row?.vectors ?? 0)
}
