import { KsError } from '../../contract/errors.js'
import type { ModelReference } from '../base/model-reference.js'
import { BUILTIN_EMBEDDING } from '../models/registry.js'
import { type SpaceRow, spaceByKey } from '../rows/spaces.js'
import type { Database } from '../storage/database.js'
import { encodeHalf } from '../storage/half.js'
import { type Read, sql, type Write } from '../storage/program.js'

/** Vectors that can be compared with one another: one embedding model of one space. */
export interface VectorSpace {
  key: number
  id: string
  dimension: number
  /** nodes a trained model has seen; 0 for a model that needs no training */
  trainedNodes: number
}

export function embeddingReference(space: SpaceRow): ModelReference {
  return { pluginId: space.embedding_plugin, provider: space.embedding_provider, model: space.embedding_model }
}

/** Whether a space's embedding is trained on its own text. */
export function isTrained(space: SpaceRow): boolean {
  return space.embedding_plugin === BUILTIN_EMBEDDING.pluginId
}

/** The vector space that queries use now; a space has none before its first model. */
export function* activeVectorSpace(space: SpaceRow): Read<VectorSpace | undefined> {
  const row = yield* sql.get<{ key: number; id: string; dimension: number; trained_nodes: number }>(
    "SELECT key, id, dimension, trained_nodes FROM vector_spaces WHERE id = ? AND space_key = ? AND state = 'active'",
    [space.vector_space, space.key],
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

/**
 * Records the dimension that a provider's first answer showed.
 *
 * @param vectorSpace that the answer is for
 * @returns nothing when the space has gone, or has another model by now
 * @throws KsError `provider-failed` when it changed
 */
export async function observeDimension(
  db: Database,
  spaceKey: number,
  dimension: number,
  vectorSpace: string,
): Promise<VectorSpace | undefined> {
  return db.write(function* () {
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
    yield* sql.run(
      "INSERT INTO vector_spaces (id, space_key, revision, dimension, state, created_at) VALUES (?, ?, ?, ?, 'active', ?)",
      [space.vector_space, space.key, space.embedding_revision, dimension, Date.now()],
    )
    yield* sql.run('UPDATE spaces SET dimension = ? WHERE key = ?', [dimension, space.key])
    const made = yield* activeVectorSpace(space)
    if (made === undefined) throw new KsError('internal', 'a vector space vanished while it was made')
    return made
  })
}

/** Stores vectors, inside the caller's transaction; a node that has one already keeps the newer. */
export function* insertVectors(vectorSpaceKey: number, rows: { nodeKey: number; vector: Float32Array }[]): Write<void> {
  for (const { nodeKey, vector } of rows)
    yield* sql.run(
      // no REPLACE: it would remove the old row without the trigger that counts vectors
      `INSERT INTO vectors (vector_space, node_key, vector) VALUES (?, ?, ?)
       ON CONFLICT (vector_space, node_key) DO UPDATE SET vector = excluded.vector`,
      [vectorSpaceKey, nodeKey, encodeHalf(vector)],
    )
}
