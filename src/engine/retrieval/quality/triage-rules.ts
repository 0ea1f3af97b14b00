import type { TriageVerdict } from './moves.js'
import type { TriageCause, TriageEvidence } from './triage-evidence.js'
import type { ModelOpinion } from './triage-model.js'

/** A model's opinion that a question is foreign is ignored when one passage contains this fraction of it. */
const MIN_NOT_FOREIGN = 0.5
/** Minimum fraction in one passage at which the answer counts as present. */
const MIN_NEAR = 0.3
/** The same for a long question: most of its words are not what it asks for. */
const MIN_NEAR_LONG = 0.15
/**
 * Below this fraction in one passage a question may be foreign to the space; depends on its number of terms, up to a
 * maximum.
 */
const FOREIGN_LIMITS = [
  { terms: 12, fraction: 0.22 },
  { terms: 16, fraction: 0.15 },
]
/** Maximum cosine of the nearest passage of a foreign question. */
const MAX_FOREIGN_COSINE = 0.6
/**
 * Minimum specific terms of a foreign question. A question in everyday words may be answered in other everyday words,
 * and without vectors only the words can show it.
 */
const MIN_SPECIFIC = 2
const MIN_SPECIFIC_WITH_VECTORS = 1

/**
 * Applies the rules of triage. Content that is present in any words is a retrieval miss, unless the best passages
 * contain no answer of the requested kind: that is a coverage gap. Irrelevant is only a question that is far in words
 * and vectors and in the space's language; everything else is uncertain.
 */
export function judgeTriageEvidence(evidence: TriageEvidence, causes: readonly TriageCause[]): TriageVerdict {
  const { best } = evidence
  if (causes.includes('not-published')) return 'retrieval-miss'
  const isThere = best >= (causes.includes('long-question') ? MIN_NEAR_LONG : MIN_NEAR)
  if (isThere && !causes.includes('kind-missing')) return 'retrieval-miss'
  if (causes.includes('withheld')) return 'uncertain'
  if (isThere) return 'coverage-gap'
  return isForeign(evidence) ? 'irrelevant' : 'uncertain'
}

function isForeign({ best, terms, specific, nearest, sameLanguage }: TriageEvidence): boolean {
  const limit = FOREIGN_LIMITS.find((bound) => terms <= bound.terms)?.fraction ?? 0
  const minSpecific = nearest === undefined ? MIN_SPECIFIC : MIN_SPECIFIC_WITH_VECTORS
  return sameLanguage && specific >= minSpecific && best < limit && (nearest ?? 0) < MAX_FOREIGN_COSINE
}

/** Whether the hits of the wide search are near enough to a question that a model need not reword it. */
export function isNear({ best }: Pick<TriageEvidence, 'best'>): boolean {
  return best >= MIN_NEAR
}

/** Converts a model's opinion to a verdict: the model has read the passages, the rules only know their words. */
export function judgeOpinion({ verdict }: ModelOpinion, { best }: Pick<TriageEvidence, 'best'>): TriageVerdict {
  if (verdict === 'answered') return 'retrieval-miss'
  if (verdict === 'related') return 'coverage-gap'
  return best >= MIN_NOT_FOREIGN ? 'uncertain' : 'irrelevant'
}
