import { isRecord } from '../../../lib/json/values.js'
import type { EmbeddingModel } from '../../base/provider-config.js'
import type { ProviderEmbedder } from '../provider.js'
import type { OpenAiEndpoint } from './endpoint.js'
import { createMalformedFailure, getCount, getList, getRecord, readProviderJson } from './json.js'

/** 1,000 vectors of 3,072 numbers with 17 digits each. */
const MAX_EMBEDDINGS_BYTES = 64 * 1024 * 1024

/**
 * `POST /embeddings`. Vectors have the dimension that the operator or the caller expects. Where neither does, the
 * dimension of the first answer applies until another one arrives, which is rejected: there is no way to tell which of
 * the two was wrong.
 */
export function createOpenAiEmbedder(endpoint: OpenAiEndpoint, model: EmbeddingModel): ProviderEmbedder {
  let lastDimension: number | undefined
  // common, but some services reject the field; remembered after the first rejection
  let format: object = { encoding_format: 'float' }
  const requestEmbeddings = async (input: string[], signal: AbortSignal) => {
    let isFieldRejected = false
    const body = { model: model.name, input }
    try {
      return await endpoint.post('embeddings', { ...body, ...format }, signal, (_, text) => {
        isFieldRejected = text.includes('encoding_format')
      })
    } catch (error) {
      if (!isFieldRejected || Object.keys(format).length === 0) throw error
      format = {}
      return await endpoint.post('embeddings', body, signal)
    }
  }
  return {
    async embed(texts, purpose, signal, dimension) {
      const prefix = (purpose === 'query' ? model.queryPrefix : model.documentPrefix) ?? ''
      const input = texts.map((text) => truncateText(prefix + text, model.maxChars))
      const response = await requestEmbeddings(input, signal)
      const json = await readProviderJson(response, MAX_EMBEDDINGS_BYTES, signal)
      const expected = model.dimension ?? dimension ?? lastDimension
      lastDimension = undefined
      const vectors = parseVectors(json, texts.length, expected)
      lastDimension = vectors[0]?.length
      const usage = getRecord(json, 'usage')
      const tokens = getCount(usage, 'total_tokens') ?? getCount(usage, 'prompt_tokens')
      return tokens === undefined ? { vectors } : { vectors, tokens }
    },
  }
}

function truncateText(text: string, maxChars = Number.POSITIVE_INFINITY): string {
  const truncated = text.length > maxChars ? text.slice(0, maxChars).replace(/[\uD800-\uDBFF]$/, '') : text
  // servers reject a complete batch because of one empty text
  return truncated === '' ? ' ' : truncated
}

/** The vectors of an answer in the order of the texts, normalized to unit length. */
function parseVectors(json: unknown, count: number, expected: number | undefined): Float32Array[] {
  const data = getList(json, 'data')
  if (data.length !== count) throw createMalformedFailure(`${data.length} vectors for ${count} texts`)
  const vectors = new Map<number, Float32Array>()
  let dimension = expected
  for (const [position, entry] of data.entries()) {
    // a server that omits the index uses the order of the texts
    const index = isRecord(entry) && entry.index !== undefined ? entry.index : position
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count || vectors.has(index)) {
      throw createMalformedFailure('the indexes of the vectors do not match the texts')
    }
    const values = getList(entry, 'embedding')
    dimension ??= values.length
    if (values.length === 0) throw createMalformedFailure('an empty vector')
    if (values.length !== dimension)
      throw createMalformedFailure(`${values.length} dimensions where ${dimension} are expected`)
    vectors.set(index, toUnitVector(values))
  }
  return [...vectors].sort(([a], [b]) => a - b).map(([, vector]) => vector)
}

function toUnitVector(values: unknown[]): Float32Array {
  const vector = new Float32Array(values.length)
  let sum = 0
  // in doubles: squares of large float32 values overflow float32
  for (const [index, value] of values.entries()) {
    if (typeof value !== 'number' || !Number.isFinite(value))
      throw createMalformedFailure('a vector contains a value that is not a finite number')
    vector[index] = value
    sum += value * value
  }
  if (sum === 0 || !Number.isFinite(sum)) throw createMalformedFailure('a vector has no usable length')
  const length = Math.sqrt(sum)
  for (const [index, value] of values.entries()) if (typeof value === 'number') vector[index] = value / length
  return vector
}
