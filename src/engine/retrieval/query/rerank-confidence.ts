/**
 * Adjusts the confidence that a passage answers by a rerank model's scores. Models differ in their scales: one gives
 * 0.9 to answers and 0.001 to the rest, another 0.3 and 0.1, a third 0.95 and 0.9. So the best score counts by its
 * distance to the other candidates, most of which do not answer, and by its value only when that distance is clear.
 */

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
  const at = (share: number): number => logits[Math.round(share * (logits.length - 1))] ?? 0
  const [best = 0, lowest = 0] = [logits[0], logits.at(-1)]
  if (logits.length < MIN_CANDIDATES)
    return (
      best - lowest >= MIN_CLEAR_LOGIT_DIFFERENCE || (sorted[0] ?? 0) - (sorted.at(-1) ?? 0) >= MIN_CLEAR_DIFFERENCE
    )
  const spread = Math.max(MIN_SPREAD, (at(0.5) - at(0.9)) / TENTH_PERCENTILE_DEVIATIONS)
  return (best - at(0.5)) / spread > Math.sqrt(2 * Math.log(logits.length))
}

function logit(probability: number): number {
  return Math.min(MAX_LOGIT, Math.max(-MAX_LOGIT, Math.log(probability / (1 - probability))))
}
