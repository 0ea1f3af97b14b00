import { isRecord } from '../../../lib/json/values.js'
import type { RerankingModel } from '../../base/provider-config.js'
import type { ProviderReranker } from '../provider.js'
import type { OpenAiEndpoint } from './endpoint.js'
import { createMalformedFailure, getList, readProviderJson } from './json.js'

/** Scores are short; the limit allows for servers that return the documents despite the request. */
const MAX_RERANK_BYTES = 16 * 1024 * 1024

/** `POST /rerank` in the format of Cohere and Jina, or of Voyage, whose results are in `data`. */
export function createOpenAiReranker(endpoint: OpenAiEndpoint, model: RerankingModel): ProviderReranker {
  let scale = model.scores
  // some services reject these options; without them they return all scores too. Remembered after the first rejection
  let omitsOptions = false
  const requestScores = async (query: string, documents: string[], signal: AbortSignal) => {
    const body = { model: model.name, query, documents }
    if (omitsOptions) return await endpoint.post('rerank', body, signal)
    let isOptionRejected = false
    try {
      const options = { top_n: documents.length, return_documents: false }
      return await endpoint.post('rerank', { ...body, ...options }, signal, (_, text) => {
        isOptionRejected = /top_n|return_documents/.test(text)
      })
    } catch (error) {
      if (!isOptionRejected) throw error
      omitsOptions = true
      return await endpoint.post('rerank', body, signal)
    }
  }
  return {
    async rerank(query, documents, signal) {
      const response = await requestScores(query, documents, signal)
      const scores = parseScores(await readProviderJson(response, MAX_RERANK_BYTES, signal), documents.length)
      // some servers return the model's raw output; once seen, all scores of this model are treated as logits
      if (scale === undefined && scores.some((score) => score < 0 || score > 1)) scale = 'logit'
      return scale === 'logit' ? fromLogits(scores) : scores.map((score) => Math.min(1, Math.max(0, score)))
    },
  }
}

/** Beyond it, the logistic function maps different numbers to the same result. */
const MAX_LOGIT = 20

/** Maps logits to 0 to 1 in the same order; values too large for logits (percentages) are scaled down first. */
function fromLogits(scores: readonly number[]): number[] {
  const largest = Math.max(MAX_LOGIT, ...scores.map(Math.abs))
  return scores.map((score) => 1 / (1 + Math.exp((-score * MAX_LOGIT) / largest)))
}

function parseScores(json: unknown, count: number): number[] {
  const results = isRecord(json) && 'results' in json ? getList(json, 'results') : getList(json, 'data')
  const scores = new Map<number, number>()
  for (const result of results) {
    if (!isRecord(result)) throw createMalformedFailure('a result is not an object')
    const { index, relevance_score: score } = result
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count || scores.has(index)) {
      throw createMalformedFailure('the indexes of the results do not match the documents')
    }
    if (typeof score !== 'number' || !Number.isFinite(score))
      throw createMalformedFailure('a score is not a finite number')
    scores.set(index, score)
  }
  if (scores.size !== count) throw createMalformedFailure(`${scores.size} scores for ${count} documents`)
  return [...scores].sort(([a], [b]) => a - b).map(([, score]) => score)
}
