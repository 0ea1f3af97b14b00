import type { Candidate, QuotablePassage } from './candidates.js'
import type { LinearModel } from './linear-model.js'
import { type AnswerFeature, answerFeatures, unitLogit } from './model.js'
import type { Question } from './question.js'

/** A candidate with the logarithm of its odds. */
export interface ScoredCandidate {
  candidate: Candidate
  logit: number
}

const MAX_UNITS = 3
/** Maximum characters of a quotation with its headings; its first unit may be longer. */
const MAX_LENGTH = 420
/** Maximum distance to the best unit, in logits: less likely units add more text than answers. */
const MAX_GAP = 3.5

/** Returns all candidates of some passages, best first. */
export function scoreCandidates(model: LinearModel, candidates: readonly Candidate[]): ScoredCandidate[] {
  return candidates
    .map((candidate) => ({ candidate, logit: unitLogit(model, candidate) }))
    .sort((a, b) => b.logit - a.logit)
}

/** Selects candidates in their order while they fit; each part of a text is used once. */
export function selectUnits(scored: readonly ScoredCandidate[]): Candidate[] {
  const chosen: Candidate[] = []
  let length = 0
  for (const { candidate, logit } of scored) {
    if (chosen.length >= MAX_UNITS || logit < (scored[0]?.logit ?? 0) - MAX_GAP) break
    if (chosen.some((other) => repeats(candidate, other))) continue
    const added = addedLength(candidate, chosen)
    if (chosen.length > 0 && length + added > MAX_LENGTH) continue
    chosen.push(candidate)
    length += added
  }
  return chosen
}

function repeats({ passage, unit }: Candidate, other: Candidate): boolean {
  if (comparable(unit.text) === comparable(other.unit.text)) return true
  return passage === other.passage && unit.start < other.unit.end && other.unit.start < unit.end
}

/** Copies of a text may differ in white space. */
function comparable(text: string): string {
  return text.replace(/\s+/gu, '')
}

function addedLength({ passage, unit }: Candidate, chosen: readonly Candidate[]): number {
  const hasContext = chosen.some((other) => other.passage === passage && other.unit.block === unit.block)
  return unit.text.length + (hasContext ? 0 : unit.heading.length + unit.lead.length)
}

/** Computes the features of a quotation; undefined without units. @param scored all candidates, best first */
export function quotationFeatures(
  question: Question,
  passages: readonly QuotablePassage[],
  scored: readonly ScoredCandidate[],
  units: readonly Candidate[],
): Record<AnswerFeature, number> | undefined {
  const [best] = scored
  if (best === undefined) return undefined
  const rival = scored.find(({ candidate }) => !units.includes(candidate))?.logit
  const topScore = passages[0]?.score ?? 0
  return answerFeatures(question, best.candidate, { logit: best.logit, rival, topScore })
}
