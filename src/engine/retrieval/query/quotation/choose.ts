import type { QuotablePassage, QuotationCandidate } from './candidates.js'
import type { LinearModel } from './linear-model.js'
import { type AnswerFeature, computeAnswerFeatures, computeUnitLogit } from './model.js'
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
