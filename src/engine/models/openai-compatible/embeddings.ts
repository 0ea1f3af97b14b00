import { isRecord } from '../../../lib/json/values.js'
import type { EmbeddingModel } from '../../base/provider-config.js'
import { ProviderFailure } from '../../base/provider-failure.js'
import type { ProviderEmbedder } from '../provider.js'
import type { Endpoint } from './endpoint.js'
import { countAt, listAt, readJson, recordAt } from './json.js'

/** 1,000 vectors of 3,072 numbers with 17 digits each. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024

/**
 * `POST /embeddings`. Vectors have the dimension that the operator or the caller expects. Where neither does, the
 * dimension of the first answer applies until another one arrives, which is rejected: there is no way to tell which of
 * the two was wrong.
 */
export function openAiEmbedder(endpoint: Endpoint, model: EmbeddingModel): ProviderEmbedder {
  let seen: number | undefined
  // common, but some services reject the field; remembered after the first rejection
  let format: object = { encoding_format: 'float' }
  const ask = async (input: string[], signal: AbortSignal) => {
    let isField = false
    const body = { model: model.name, input }
    try {
      return await endpoint.post('embeddings', { ...body, ...format }, signal, (_, text) => {
        isField = text.includes('encoding_format')
      })
    } catch (error) {
      if (!isField || Object.keys(format).length === 0) throw error
      format = {}
      return await endpoint.post('embeddings', body, signal)
    }
  }
  return {
    async embed(texts, purpose, signal, dimension) {
      const prefix = (purpose === 'query' ? model.queryPrefix : model.documentPrefix) ?? ''
      const input = texts.map((text) => prepare(prefix + text, model.maxChars))
      const answer = await ask(input, signal)
      const json = await readJson(answer, MAX_ANSWER_BYTES, signal)
      const expected = model.dimension ?? dimension ?? seen
      seen = undefined
      const vectors = readVectors(json, texts.length, expected)
      seen = vectors[0]?.length
      const usage = recordAt(json, 'usage')
      const tokens = countAt(usage, 'total_tokens') ?? countAt(usage, 'prompt_tokens')
      return tokens === undefined ? { vectors } : { vectors, tokens }
    },
  }
}

function prepare(text: string, maxChars = Number.POSITIVE_INFINITY): string {
  const cut = text.length > maxChars ? text.slice(0, maxChars).replace(/[\uD800-\uDBFF]$/, '') : text
  // servers reject a complete batch because of one empty text
  return cut === '' ? ' ' : cut
}

/** The vectors of an answer in the order of the texts, normalized to unit length. */
function readVectors(json: unknown, count: number, expected: number | undefined): Float32Array[] {
  const data = listAt(json, 'data')
  if (data.length !== count) throw malformed(`${data.length} vectors for ${count} texts`)
  const vectors = new Map<number, Float32Array>()
  let dimension = expected
  for (const [place, entry] of data.entries()) {
    // a server that omits the index uses the order of the texts
    const index = isRecord(entry) && entry.index !== undefined ? entry.index : place
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count || vectors.has(index)) {
      throw malformed('the indexes of the vectors do not match the texts')
    }
    const values = listAt(entry, 'embedding')
    dimension ??= values.length
    if (values.length === 0) throw malformed('an empty vector')
    if (values.length !== dimension) throw malformed(`${values.length} dimensions where ${dimension} are expected`)
    vectors.set(index, unitVector(values))
  }
  return [...vectors].sort(([a], [b]) => a - b).map(([, vector]) => vector)
}

function unitVector(values: unknown[]): Float32Array {
  const vector = new Float32Array(values.length)
  let sum = 0
  // in doubles: squares of large float32 values overflow float32
  for (const [at, value] of values.entries()) {
    if (typeof value !== 'number' || !Number.isFinite(value)) throw malformed('a vector contains a value that is not a finite number')
    vector[at] = value
    sum += value * value
  }
  if (sum === 0 || !Number.isFinite(sum)) throw malformed('a vector has no usable length')
  const length = Math.sqrt(sum)
  for (const [at, value] of values.entries()) if (typeof value === 'number') vector[at] = value / length
  return vector
}

function malformed(detail: string): ProviderFailure {
  return new ProviderFailure('malformed', detail)
}
