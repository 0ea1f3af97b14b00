import { omitUndefined } from '../../../lib/omit-undefined.js'
import { type Degradation, toDegradation } from '../../base/degraded.js'
import { getSpaceAccount } from '../../library/index.js'
import type { PassageRow } from '../../store/rows/queries.js'
import { MAX_RERANK_CANDIDATES, type RankedCandidate } from './rank.js'
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

/** Minimum candidates for the lower half to show a model's scores of passages that do not answer. */
const MIN_CANDIDATES = 8
/** With fewer candidates the best one stands out by this difference of relevance or of logits to the lowest one. */
const MIN_CLEAR_DIFFERENCE = 0.3
const MIN_CLEAR_LOGIT_DIFFERENCE = 3
/** With a model whose scores are nearly equal, any passage would stand out. */
const MIN_SPREAD = 0.25
/** From the median to the lowest tenth, in standard deviations of a normal distribution. */
const TENTH_PERCENTILE_DEVIATIONS = 1.2816
/** Relevance below which a model indicates that the best passage does not answer. */
const LOW_RELEVANCE = 0.2
/** Maximum reduction of the log odds: odds twelve times lower, or a third when the best passage stands out. */
const MAX_PENALTY = { alike: 2.5, standsOut: 1.25 }
const MAX_LOGIT = 12

interface RerankedConfidence {
  /** that a passage answers, 0 to 1 */
  confidence: number
  /** relevance of the best passage, 0 to 1; set when it stands out, so that its value counts */
  relevance?: number
}

/**
 * Adjusts the confidence that a passage answers by a rerank model's scores. Models differ in their scales: one gives
 * 0.9 to answers and 0.001 to the rest, another 0.3 and 0.1, a third 0.95 and 0.9. So the best score counts by its
 * distance to the other candidates, most of which do not answer, and by its value only when that distance is clear.
 *
 * @param before confidence by words and vectors, 0 to 1
 * @param scores of all candidates that the model compared, 0 to 1
 */
export function computeRerankedConfidence(before: number, scores: readonly number[]): RerankedConfidence {
  const sorted = [...scores].sort((a, b) => b - a)
  const best = sorted[0]
  if (best === undefined) return { confidence: before }
  const isClear = doesBestStandOut(sorted)
  const maxPenalty = isClear ? MAX_PENALTY.standsOut : MAX_PENALTY.alike
  const penalty = Math.min(maxPenalty, Math.max(0, logit(LOW_RELEVANCE) - logit(best)))
  const lowered = penalty === 0 ? before : 1 / (1 + Math.exp(penalty - logit(before)))
  return isClear ? { confidence: Math.max(lowered, best), relevance: best } : { confidence: lowered }
}

/** @param sorted highest first */
function doesBestStandOut(sorted: readonly number[]): boolean {
  const logits = sorted.map(logit)
  const percentile = (fraction: number): number => logits[Math.round(fraction * (logits.length - 1))] ?? 0
  const [best = 0, lowest = 0] = [logits[0], logits.at(-1)]
  if (logits.length < MIN_CANDIDATES)
    return (
      best - lowest >= MIN_CLEAR_LOGIT_DIFFERENCE || (sorted[0] ?? 0) - (sorted.at(-1) ?? 0) >= MIN_CLEAR_DIFFERENCE
    )
  const spread = Math.max(MIN_SPREAD, (percentile(0.5) - percentile(0.9)) / TENTH_PERCENTILE_DEVIATIONS)
  return (best - percentile(0.5)) / spread > Math.sqrt(2 * Math.log(logits.length))
}

function logit(probability: number): number {
  return Math.min(MAX_LOGIT, Math.max(-MAX_LOGIT, Math.log(probability / (1 - probability))))
}
