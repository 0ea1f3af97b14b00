import { omitUndefined } from '../../../lib/omit-undefined.js'
import { type Degradation, toDegradation } from '../../base/degraded.js'
import { getSpaceAccount } from '../../library/index.js'
import type { PassageRow } from '../../store/rows/queries.js'
import { MAX_RERANK_CANDIDATES, type RankedCandidate } from './rank.js'
import { computeRerankedConfidence } from './rerank-confidence.js'
import type { QuestionScope, UsedReranker } from './retrieval.js'

/** Maximum time that a rerank may add to a query; after it the previous order stays. */
const RERANK_TIMEOUT_MS = 5000
/** Maximum characters of a passage, about what rerank models read; longer texts are cut or refused by them. */
const MAX_PASSAGE_CHARACTERS = 4000
/** Maximum characters of the question, so that the passage still fits the model's window. */
const MAX_QUERY_CHARACTERS = 2000

export interface ModelRerank {
  ranked: RankedCandidate[]
  /** relevance of the best passage, 0 to 1, when the model's scores separate it from the others */
  relevance?: number
  /** absent when the order was not decided by a model */
  used?: UsedReranker
  degraded?: Degradation
}

/**
 * Lets the profile's rerank model order the best candidates. It decides their order, their distance to the best one,
 * and whether the confidence that a passage answers rises or falls (`computeRerankedConfidence`). When the model fails
 * or times out, the order does not change.
 */
export async function rerankByModel(
  { context, admitted: { space, profile }, query, signal }: QuestionScope,
  ranked: RankedCandidate[],
  passages: ReadonlyMap<number, PassageRow>,
): Promise<ModelRerank> {
  const { enabled, model } = profile.rerank
  if (!enabled || model === undefined) return { ranked }
  const head = ranked.slice(0, MAX_RERANK_CANDIDATES).flatMap((one) => {
    const passage = passages.get(one.key)
    return passage === undefined
      ? []
      : [{ one, text: `${passage.title}\n${passage.body}`.slice(0, MAX_PASSAGE_CHARACTERS) }]
  })
  if (head.length === 0) return { ranked }
  try {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(RERANK_TIMEOUT_MS)])
    const reranker = context.models.reranker(model, getSpaceAccount(context, space))
    const texts = head.map(({ text }) => text.toWellFormed())
    const scores = await reranker.rerank(query.slice(0, MAX_QUERY_CHARACTERS).toWellFormed(), texts, limited)
    const compared = head.map(({ one }, index) => ({ one, score: scores[index] ?? 0 }))
    const estimate = computeRerankedConfidence(
      Math.max(...ranked.map(({ final }) => final)),
      compared.map(({ score }) => score),
    )
    return {
      ranked: applyModelOrder(compared, ranked, estimate.confidence),
      used: { model, compared: head.length },
      ...omitUndefined({ relevance: estimate.relevance }),
    }
  } catch (error) {
    signal.throwIfAborted()
    context.log.warn({ space: space.id, error: String(error) }, 'a rerank model failed')
    return { ranked, degraded: toDegradation('rerank', 'the rerank model did not order the passages', error) }
  }
}

function applyModelOrder(
  compared: { one: RankedCandidate; score: number }[],
  previous: readonly RankedCandidate[],
  confidence: number,
): RankedCandidate[] {
  // The sort is stable: equal scores keep the previous order.
  compared.sort((a, b) => b.score - a.score)
  const best = compared[0]?.score ?? 0
  const head = compared.map(({ one, score }): RankedCandidate => {
    const fraction = best > 0 ? score / best : 1
    return { ...one, final: Math.min(1, confidence * fraction), rerank: score }
  })
  const known = new Set(head.map(({ key }) => key))
  const rest = previous.filter(({ key }) => !known.has(key))
  const lowest = head.at(-1)?.final ?? 0
  const highest = rest[0]?.final ?? 0
  // Candidates that were not sent to the model keep their order, below the others.
  return [...head, ...rest.map((one) => ({ ...one, final: highest > 0 ? (lowest * one.final) / highest : 0 }))]
}
