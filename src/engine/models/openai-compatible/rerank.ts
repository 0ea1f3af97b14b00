import { isRecord } from '../../../lib/json/values.js'
import type { RerankingModel } from '../../base/provider-config.js'
import { ProviderFailure } from '../../base/provider-failure.js'
import type { ProviderReranker } from '../provider.js'
import type { Endpoint } from './endpoint.js'
import { listAt, readJson } from './json.js'

/** Scores are short; room for servers that send the documents back although asked not to. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024

/** `POST /rerank` in the shape of Cohere and Jina, or of Voyage, whose results stand in `data`. */
export function openAiReranker(endpoint: Endpoint, model: RerankingModel): ProviderReranker {
  let scale = model.scores
  // some services refuse these; without them they give the scores of all documents too. Found out once
  let isPlain = false
  const ask = async (query: string, documents: string[], signal: AbortSignal) => {
    const body = { model: model.name, query, documents }
    if (isPlain) return await endpoint.post('rerank', body, signal)
    let isField = false
    try {
      const options = { top_n: documents.length, return_documents: false }
      return await endpoint.post('rerank', { ...body, ...options }, signal, (_, text) => {
        isField = /top_n|return_documents/.test(text)
      })
    } catch (error) {
      if (!isField) throw error
      isPlain = true
      return await endpoint.post('rerank', body, signal)
    }
  }
  return {
    async rerank(query, documents, signal) {
      const answer = await ask(query, documents, signal)
      const scores = readScores(await readJson(answer, MAX_ANSWER_BYTES, signal), documents.length)
      // some servers give the model's raw output; once seen, all of this model's scores are read that way
      if (scale === undefined && scores.some((score) => score < 0 || score > 1)) scale = 'logit'
      return scale === 'logit' ? fromLogits(scores) : scores.map((score) => Math.min(1, Math.max(0, score)))
    },
  }
}

/** Beyond it, the logistic function gives the same number for different ones. */
const LARGEST_LOGIT = 20

/** Logits as 0 to 1 in the same order; numbers that are too large for logits (percentages) are made smaller first. */
function fromLogits(scores: readonly number[]): number[] {
  const largest = Math.max(LARGEST_LOGIT, ...scores.map(Math.abs))
  return scores.map((score) => 1 / (1 + Math.exp((-score * LARGEST_LOGIT) / largest)))
}

function readScores(json: unknown, count: number): number[] {
  const results = isRecord(json) && 'results' in json ? listAt(json, 'results') : listAt(json, 'data')
  const scores = new Map<number, number>()
  for (const result of results) {
    if (!isRecord(result)) throw malformed('a result is no object')
    const { index, relevance_score: score } = result
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count || scores.has(index)) {
      throw malformed('the indexes of its results are not those of the documents')
    }
    if (typeof score !== 'number' || !Number.isFinite(score)) throw malformed('a score is no finite number')
    scores.set(index, score)
  }
  if (scores.size !== count) throw malformed(`${scores.size} scores for ${count} documents`)
  return [...scores].sort(([a], [b]) => a - b).map(([, score]) => score)
}

function malformed(detail: string): ProviderFailure {
  return new ProviderFailure('malformed', detail)
}
