import { EXACT_TYPES, FEATURES, type QuotablePassage, type QuotationCandidate } from './candidates.js'
import type { PreparedQuestion } from './question.js'

/** A candidate with the logarithm of its odds. */
export interface ScoredCandidate {
  candidate: QuotationCandidate
  logit: number
}

const MAX_UNITS = 3
/** Maximum characters of a quotation with its headings; its first unit may be longer. */
const MAX_QUOTATION_LENGTH = 420
/** Maximum distance to the best unit, in logits: less likely units add more text than answers. */
const MAX_LOGIT_GAP = 3.5

/** Returns all candidates of some passages, best first. */
export function scoreCandidates(model: LinearModel, candidates: readonly QuotationCandidate[]): ScoredCandidate[] {
  return candidates
    .map((candidate) => ({ candidate, logit: computeUnitLogit(model, candidate) }))
    .sort((a, b) => b.logit - a.logit)
}

/** Selects candidates in their order while they fit; each part of a text is used once. */
export function selectUnits(scored: readonly ScoredCandidate[]): QuotationCandidate[] {
  const chosen: QuotationCandidate[] = []
  let length = 0
  for (const { candidate, logit } of scored) {
    if (chosen.length >= MAX_UNITS || logit < (scored[0]?.logit ?? 0) - MAX_LOGIT_GAP) break
    if (chosen.some((other) => isRepetition(candidate, other))) continue
    const added = computeAddedLength(candidate, chosen)
    if (chosen.length > 0 && length + added > MAX_QUOTATION_LENGTH) continue
    chosen.push(candidate)
    length += added
  }
  return chosen
}

function isRepetition({ passage, unit }: QuotationCandidate, other: QuotationCandidate): boolean {
  if (removeWhiteSpace(unit.text) === removeWhiteSpace(other.unit.text)) return true
  return passage === other.passage && unit.start < other.unit.end && other.unit.start < unit.end
}

/** Copies of a text may differ in white space. */
function removeWhiteSpace(text: string): string {
  return text.replace(/\s+/gu, '')
}

function computeAddedLength({ passage, unit }: QuotationCandidate, chosen: readonly QuotationCandidate[]): number {
  const hasContext = chosen.some((other) => other.passage === passage && other.unit.block === unit.block)
  return unit.text.length + (hasContext ? 0 : unit.heading.length + unit.lead.length)
}

/** Computes the features of a quotation; undefined without units. @param scored all candidates, best first */
export function computeQuotationFeatures(
  question: PreparedQuestion,
  passages: readonly QuotablePassage[],
  scored: readonly ScoredCandidate[],
  units: readonly QuotationCandidate[],
): Record<AnswerFeature, number> | undefined {
  const [best] = scored
  if (best === undefined) return undefined
  const unquotedLogit = scored.find(({ candidate }) => !units.includes(candidate))?.logit
  const topScore = passages[0]?.score ?? 0
  return computeAnswerFeatures(question, best.candidate, { logit: best.logit, unquotedLogit, topScore })
}

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

/** A logistic model: the logarithm of the odds is the bias plus the weighted sum of the values. */
export interface LinearModel {
  weights: readonly number[]
  bias: number
}

/** Computes the logarithm of the odds. @param values one for each weight */
export function computeLogit({ weights, bias }: LinearModel, values: readonly number[]): number {
  return values.reduce((sum, value, index) => sum + value * (weights[index] ?? 0), bias)
}

/** Computes the probability, 0 to 1. @param values one for each weight */
export function computeProbability(model: LinearModel, values: readonly number[]): number {
  return 1 / (1 + Math.exp(-computeLogit(model, values)))
}

/** A model with its weights by name. */
export interface NamedModel<Name extends string> {
  bias: number
  weights: Readonly<Record<Name, number>>
}

/** Puts the weights in the order of their names. */
export function toOrderedModel<Name extends string>(names: readonly Name[], model: NamedModel<Name>): LinearModel {
  return { bias: model.bias, weights: names.map((name) => model.weights[name]) }
}
