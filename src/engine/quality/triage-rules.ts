import type { TriageVerdict } from './moves.js'
import type { TriageCause, TriageEvidence } from './triage-evidence.js'
import type { ModelOpinion } from './triage-model.js'

/** A model that calls a question foreign is not followed where one passage holds this share of it. */
const NOT_FOREIGN_FROM = 0.5
/** From this share in one passage on, what was asked for counts as there. */
const NEAR_FROM = 0.3
/** The same for a question that tells a story: most of its words are not what is asked for. */
const NEAR_FROM_LONG = 0.15
/** Below this share in one passage a question may be foreign to the space: by its number of terms, up to so many. */
const FAR_BELOW = [
  { terms: 12, share: 0.22 },
  { terms: 16, share: 0.15 },
]
/** Its nearest passage is then no nearer than this (cosine). */
const NEAREST_BELOW = 0.6
/**
 * It has so many words of its own subject at least: a question in everyday words may be answered in other everyday
 * words, and where there are no vectors, nothing but the words can tell.
 */
const FEWEST_SPECIFIC = 2
const FEWEST_SPECIFIC_WITH_VECTORS = 1

/**
 * The rules of triage. What is there, in whatever words, is a retrieval miss, unless the best passages hold nothing of the
 * kind that is asked for: that is a coverage gap. Irrelevant is only what is far in words and vectors and whose language
 * is the space's; what remains is uncertain.
 */
export function judgeEvidence(evidence: TriageEvidence, causes: readonly TriageCause[]): TriageVerdict {
  const { best } = evidence
  if (causes.includes('not-published')) return 'retrieval-miss'
  const isThere = best >= (causes.includes('long-question') ? NEAR_FROM_LONG : NEAR_FROM)
  if (isThere && !causes.includes('kind-missing')) return 'retrieval-miss'
  if (causes.includes('withheld')) return 'uncertain'
  if (isThere) return 'coverage-gap'
  return isForeign(evidence) ? 'irrelevant' : 'uncertain'
}

function isForeign({ best, terms, specific, nearest, sameLanguage }: TriageEvidence): boolean {
  const below = FAR_BELOW.find((bound) => terms <= bound.terms)?.share ?? 0
  const enough = nearest === undefined ? FEWEST_SPECIFIC : FEWEST_SPECIFIC_WITH_VECTORS
  return sameLanguage && specific >= enough && best < below && (nearest ?? 0) < NEAREST_BELOW
}

/** Whether what the wide search found is near enough to a question for a model to be asked about nothing else. */
export function isNear({ best }: Pick<TriageEvidence, 'best'>): boolean {
  return best >= NEAR_FROM
}

/** What a model's opinion makes of it: the model has read the passages, and the rules only know their words. */
export function judgeOpinion({ says }: ModelOpinion, { best }: Pick<TriageEvidence, 'best'>): TriageVerdict {
  if (says === 'answered') return 'retrieval-miss'
  if (says === 'related') return 'coverage-gap'
  return best >= NOT_FOREIGN_FROM ? 'uncertain' : 'irrelevant'
}
