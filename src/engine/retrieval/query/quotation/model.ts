import { EXACT_TYPES, FEATURES, type QuotationCandidate } from './candidates.js'
import { computeLogit, type LinearModel } from './linear-model.js'
import type { PreparedQuestion } from './question.js'

/**
 * Features that estimate whether a quotation contains the answer. A unit is a paragraph, list, row or table of a
 * passage. Features that are in `FEATURES`, too, are those of the best unit; `candidates.ts` describes them.
 */
export const ANSWER_FEATURES = [
  /** logit of the best unit minus that of the best unit that is not quoted, at most `MAX_MARGIN` */
  'margin',
  'missing',
  'elsewhere',
  'similar',
  'namesMissing',
  'otherYear',
  'containsExact',
  'noType',
  'titleMatch',
  'isRow',
  'isTable',
  'isList',
  /** relevance of the best passage of all */
  'topScore',
  /** logarithm of the sum of the weights of the question's terms */
  'weight',
  'termCount',
  'maxWeight',
  /** sum of the weights of the question's terms in the best unit */
  'unitWeight',
  'missingInFirst',
  'wantsList',
  'wantsExact',
  'wantsPerson',
  /** logarithm of the characters of the best unit */
  'length',
] as const
export type AnswerFeature = (typeof ANSWER_FEATURES)[number]

/** Also the margin of a quotation without a competing unit, as in a small document. */
const MAX_MARGIN = 3

/** Returns the values of a unit in the order of `FEATURES`. */
export function toUnitValues({ features }: QuotationCandidate): number[] {
  return FEATURES.map((name) => features[name])
}

/** Estimates how well a unit answers, as the logarithm of the odds; comparable between the units of one question. */
export function computeUnitLogit(model: LinearModel, candidate: QuotationCandidate): number {
  return computeLogit(model, toUnitValues(candidate))
}

/**
 * Computes the features of a quotation.
 *
 * @param best its best unit
 * @param logit logit of that unit
 * @param unquotedLogit logit of the best unit that is not quoted, if there is one
 * @param topScore relevance of the best passage, 0 to 1
 */
export function computeAnswerFeatures(
  { weights, totalWeight, type, wantsList }: PreparedQuestion,
  { features }: QuotationCandidate,
  {
    logit,
    unquotedLogit = logit - MAX_MARGIN,
    topScore,
  }: { logit: number; unquotedLogit?: number | undefined; topScore: number },
): Record<AnswerFeature, number> {
  return {
    ...features,
    margin: Math.min(MAX_MARGIN, logit - unquotedLogit),
    topScore,
    weight: Math.log(1 + totalWeight),
    termCount: weights.size,
    maxWeight: Math.max(0, ...weights.values()),
    unitWeight: features.inUnit * totalWeight,
    missingInFirst: features.missing * features.isFirst,
    wantsList: Number(wantsList),
    wantsExact: Number(EXACT_TYPES.has(type)),
    wantsPerson: Number(type === 'person'),
  }
}

/** Returns the values of a quotation in the order of `ANSWER_FEATURES`. */
export function toAnswerValues(features: Record<AnswerFeature, number>): number[] {
  return ANSWER_FEATURES.map((name) => features[name])
}
