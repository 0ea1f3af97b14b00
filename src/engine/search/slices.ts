import { KsError } from '../../contract/errors.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { areFinite, checkDimension, checkValues } from './check-request.js'
import { MAX_SLICE_CHARACTERS, MAX_SLICE_NODES, MAX_SLICE_VECTOR_BYTES } from './limits.js'
import type { IndexBatch, IndexedNode, VectorBatch } from './ports.js'
import type { NodeVectors, StageRequest, VectorOrigin, VectorsRequest } from './protocol.js'

/** Splits a batch into slices that the index process handles in a few milliseconds each. */
export function* toStageSlices(space: string, batch: IndexBatch): Iterable<StageRequest> {
  let start = 0
  let removed = 0
  do {
    const end = findSliceEnd(batch.add, start)
    const nodes = batch.add.slice(start, end)
    // All removals come before the first addition: a key in both lists stays.
    const last = removed + MAX_SLICE_REMOVALS >= batch.remove.length
    const remove = batch.remove.slice(removed, removed + MAX_SLICE_REMOVALS)
    removed += remove.length
    yield toStageRequest(space, last ? nodes : [], remove, batch.vectorSpace)
    if (last) start = end
  } while (start < batch.add.length || removed < batch.remove.length)
}

/** Maximal number of deletions in the native library per turn. */
const MAX_SLICE_REMOVALS = 1_000

function findSliceEnd(nodes: readonly IndexedNode[], start: number): number {
  let characters = 0
  let bytes = 0
  let end = start
  while (end < nodes.length && end - start < MAX_SLICE_NODES) {
    const node = nodes[end]
    characters += (node?.title.length ?? 0) + (node?.body.length ?? 0)
    bytes += node?.vector?.byteLength ?? 0
    if (end > start && (characters > MAX_SLICE_CHARACTERS || bytes > MAX_SLICE_VECTOR_BYTES)) break
    end++
  }
  return end
}

function toStageRequest(
  space: string,
  nodes: readonly IndexedNode[],
  remove: readonly number[],
  vectorSpace: string | undefined,
): StageRequest {
  const vectors = vectorSpace === undefined ? undefined : packVectors(nodes, vectorSpace)
  return {
    op: 'stage',
    space,
    keys: Float64Array.from(nodes, (node) => node.key),
    docs: Float64Array.from(nodes, (node) => node.doc),
    titles: nodes.map((node) => node.title),
    bodies: nodes.map((node) => node.body),
    remove: Float64Array.from(remove),
    ...omitUndefined({ vectors }),
  }
}

function packVectors(nodes: readonly IndexedNode[], vectorSpace: string): NodeVectors | undefined {
  const withVector: { position: number; vector: Float32Array }[] = []
  nodes.forEach(({ vector }, position) => {
    if (vector !== undefined) withVector.push({ position, vector })
  })
  const dimension = withVector[0]?.vector.length
  if (dimension === undefined) return undefined
  const values = new Float32Array(withVector.length * dimension)
  withVector.forEach(({ vector }, i) => {
    values.set(vector, i * dimension)
  })
  return { vectorSpace, dimension, positions: Uint32Array.from(withVector, ({ position }) => position), values }
}

/** Splits a batch of vectors into slices. */
export function* toVectorSlices(space: string, batch: VectorBatch, origin: VectorOrigin): Iterable<VectorsRequest> {
  const { vectorSpace, dimension } = batch
  const rows = Math.max(1, Math.floor(MAX_SLICE_VECTOR_BYTES / (dimension * batch.vectors.BYTES_PER_ELEMENT)))
  for (let start = 0; start < batch.keys.length; start += rows) {
    const end = Math.min(start + rows, batch.keys.length)
    yield {
      op: 'vectors',
      space,
      vectorSpace,
      dimension,
      keys: Float64Array.from(batch.keys.slice(start, end)),
      docs: Float64Array.from(batch.docs.slice(start, end)),
      values: batch.vectors.slice(start * dimension, end * dimension),
      origin,
    }
  }
}

/** Removes vectors with non-finite numbers: rejecting the batch would exclude its other vectors permanently. */
export function withoutInvalidVectors(batch: VectorBatch): VectorBatch {
  const { dimension } = batch
  if (areFinite(batch.vectors)) return batch
  const valid = batch.keys
    .map((_, i) => i)
    .filter((i) => areFinite(batch.vectors.subarray(i * dimension, (i + 1) * dimension)))
  const vectors = batch.vectors.slice(0, valid.length * dimension)
  valid.forEach((from, to) => {
    vectors.set(batch.vectors.subarray(from * dimension, (from + 1) * dimension), to * dimension)
  })
  const pick = (values: number[]) => valid.map((i) => values[i] ?? 0)
  return { ...batch, keys: pick(batch.keys), docs: pick(batch.docs), vectors }
}

/**
 * Rejects a batch with unusable vectors before any of it is applied.
 *
 * @throws KsError `invalid-request`
 */
export function checkBatch(batch: IndexBatch): void {
  const dimension = batch.add.find((node) => node.vector !== undefined)?.vector?.length
  if (!Number.isSafeInteger(batch.seq) || batch.seq < 1) {
    throw new KsError('invalid-request', `a batch needs a whole sequence number from 1, not ${batch.seq}`)
  }
  if (dimension === undefined) return
  if (batch.vectorSpace === undefined)
    throw new KsError('invalid-request', 'a batch with vectors must name their vector space')
  for (const { vector } of batch.add)
    if (vector !== undefined) toInvalidRequest(() => checkValues(vector, 1, dimension))
  toInvalidRequest(() => checkDimension(dimension))
}

/** @throws KsError `invalid-request` when the counts of keys, documents and vectors differ or a number is not finite */
export function checkVectorBatch(batch: VectorBatch): void {
  toInvalidRequest(() => {
    checkDimension(batch.dimension)
    checkValues(batch.vectors, batch.keys.length, batch.dimension)
    if (batch.docs.length !== batch.keys.length) throw new RangeError('every vector needs a key and a document')
  })
}

function toInvalidRequest(check: () => void): void {
  try {
    check()
  } catch (error) {
    throw new KsError('invalid-request', error instanceof Error ? error.message : String(error), { cause: error })
  }
}
