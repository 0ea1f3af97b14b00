import { MAX_DIMENSION, MAX_FILTER_DOCS, MAX_K, MAX_SLICE_NODES } from './limits.js'
import type { ConfirmRequest, IndexRequest, SearchMessage, StageRequest, VectorsRequest } from './protocol.js'
import { allFinite, allFiniteHalves } from './scan.kernel.js'

/**
 * Rejects values that the native libraries mishandle: they accept NaN silently and abort the process on invalid
 * numbers.
 *
 * @throws RangeError that names the value and the rule
 */
export function checkRequest(request: IndexRequest): void {
  if (request.op === 'close') return
  if (request.space === '') throw new RangeError('a space needs an id')
  if (request.op === 'search') checkSearch(request)
  if (request.op === 'stage') checkStage(request)
  if (request.op === 'vectors') checkVectors(request)
  if (request.op === 'load') checkDimension(request.dimension)
  if (request.op === 'confirm') checkConfirm(request)
  if (request.op === 'commit' && !Number.isSafeInteger(request.watermark)) {
    throw new RangeError(`a watermark must be a whole number, not ${request.watermark}`)
  }
}

function checkSearch(request: SearchMessage): void {
  for (const k of [request.textK, request.vectorK]) {
    if (!Number.isInteger(k) || k < 1 || k > MAX_K)
      throw new RangeError(`a search leg returns 1 to ${MAX_K} hits, not ${k}`)
  }
  if (request.vector !== undefined) checkValues(request.vector, 1, request.vector.length)
  if (request.scope !== undefined) checkKeys(request.scope.docs)
  if (request.docs === undefined) return
  if (request.docs.length > MAX_FILTER_DOCS) {
    throw new RangeError(`a filter names at most ${MAX_FILTER_DOCS} documents, not ${request.docs.length}`)
  }
  checkKeys(request.docs)
}

function checkStage(request: StageRequest): void {
  const { keys, docs, titles, bodies, remove, vectors } = request
  if (keys.length > MAX_SLICE_NODES)
    throw new RangeError(`a slice has at most ${MAX_SLICE_NODES} nodes, not ${keys.length}`)
  if (docs.length !== keys.length || titles.length !== keys.length || bodies.length !== keys.length) {
    throw new RangeError('every node of a slice needs a key, a document, a title and a body')
  }
  checkKeys(keys)
  checkKeys(docs)
  checkKeys(remove)
  if (vectors === undefined) return
  checkDimension(vectors.dimension)
  checkValues(vectors.values, vectors.positions.length, vectors.dimension)
  if (vectors.positions.some((position) => position >= keys.length))
    throw new RangeError('a vector belongs to no node of the slice')
}

function checkVectors(request: VectorsRequest): void {
  checkDimension(request.dimension)
  checkKeys(request.keys)
  checkKeys(request.docs)
  if (request.docs.length !== request.keys.length) throw new RangeError('every vector needs a key and a document')
  checkValues(request.values, request.keys.length, request.dimension)
}

function checkConfirm({ dimension, keys, docs, sums }: ConfirmRequest): void {
  checkDimension(dimension)
  checkKeys(keys)
  checkKeys(docs)
  if (docs.length !== keys.length || sums.length !== keys.length)
    throw new RangeError('every vector needs a key, a document and a checksum')
}

/** @param values float32 numbers, or the bits of float16 numbers */
export function areFinite(values: Float32Array | Uint16Array): boolean {
  return values instanceof Uint16Array ? allFiniteHalves(values) : allFinite(values)
}

/** @throws RangeError unless `values` are `count` vectors of finite numbers */
export function checkValues(values: Float32Array | Uint16Array, count: number, dimension: number): void {
  if (values.length !== count * dimension) {
    throw new RangeError(
      `${count} vectors of ${dimension} dimensions are ${count * dimension} numbers, not ${values.length}`,
    )
  }
  if (!areFinite(values)) throw new RangeError('a vector must contain only finite numbers')
}

/** @throws RangeError unless the dimension is 1 to 8,192 */
export function checkDimension(dimension: number): void {
  if (!Number.isInteger(dimension) || dimension < 1 || dimension > MAX_DIMENSION) {
    throw new RangeError(`a vector has 1 to ${MAX_DIMENSION} dimensions, not ${dimension}`)
  }
}

function checkKeys(keys: Float64Array): void {
  for (const key of keys) {
    if (!Number.isSafeInteger(key) || key < 0) throw new RangeError(`a row key is a whole number from 0, not ${key}`)
  }
}
