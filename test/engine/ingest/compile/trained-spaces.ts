import { compileBatch } from '../../../../src/engine/ingest/compile/pipeline.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import {
  activateVectorSpace,
  insertTrainedVectorSpace,
  type VectorSpace,
} from '../../../../src/engine/store/rows/vector-spaces.js'
import { newId } from '../../../../src/lib/ids.js'
import { passages, type SmallStore } from '../../../helpers/store.js'

/** Passages that a model can be trained on: several share each of twelve terms. */
export const shared = (count: number) =>
  passages(...Array.from({ length: count }, (_, n) => `subject${n % 7} matter${n % 5} only${n}`))
/** The dimension of a model trained on 48 of them or more. */
export const DIMENSION = 12
/** Passages without any common word. */
export const strange = (count: number, from = 0) =>
  passages(...Array.from({ length: count }, (_, n) => `alone${from + n} single${from + n}`))

/** A distinct vector for every text. */
export function vector(text: string): Float32Array {
  const made = new Float32Array(DIMENSION)
  for (const letter of text) made[letter.charCodeAt(0) % DIMENSION] = (made[letter.charCodeAt(0) % DIMENSION] ?? 0) + 1
  return made
}

export async function publish(store: SmallStore, space: SpaceRow, files: Record<string, string>): Promise<void> {
  const { signal } = new AbortController()
  await compileBatch(store.context, store.reload(space), await store.uploadAndClaim(space, files), { signal })
  store.embedded.length = 0
}

/** A space of one document. */
export async function filledSpace(store: SmallStore, text: string): Promise<SpaceRow> {
  const space = store.createSpace()
  await publish(store, space, { 'a.md': text })
  return store.reload(space)
}

/** An active model of a space, with a vector of every passage. */
export function inUse(store: SmallStore, space: SpaceRow, bytes = new Uint8Array(1)): VectorSpace {
  const made = store.write(function* () {
    const next = yield* insertTrainedVectorSpace(space, newId(), { dimension: 2, bytes, trainedNodes: 30 }, 'gone')
    yield* activateVectorSpace(space.key, next)
    return next
  })
  store.run("INSERT INTO vectors SELECT ?, key, x'003c0000' FROM nodes WHERE space_key = ?", made.key, space.key)
  return made
}

interface Model {
  key: number
  id: string
  state: string
  dimension: number
  trained_nodes: number
  claimed_by: string | null
  model: Uint8Array
}
export const modelsOf = (store: SmallStore) => store.rows<Model>('SELECT * FROM vector_spaces ORDER BY key')
export const vectorsOf = (store: SmallStore, key: number) =>
  store.rows<{ node_key: number }>('SELECT node_key FROM vectors WHERE vector_space = ? ORDER BY 1', key)
export const nodeKeys = (store: SmallStore) => store.rows('SELECT key node_key FROM nodes ORDER BY 1')
