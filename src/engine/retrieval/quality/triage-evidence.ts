import { isKindMissing } from '../query/question/requested-kind.js'
import type { ComparedPassage } from './compare-passages.js'
import { isSpecific } from './everyday-words.js'
import type { NonLexicalCauses } from './non-lexical-causes.js'
import { mayShareLanguage } from './same-language.js'
import type { WideSearch } from './wide-search.js'

/** Evidence for judging a failed query; fractions are of the question's weight, 0 to 1. */
export interface TriageEvidence {
  /** number of distinct terms of the query's subject */
  terms: number
  /** number of those that are no everyday words */
  specific: number
  /** fraction that the space contains in the query's own words */
  known: number
  /** the same with other spellings, forms and everyday synonyms */
  knownInOtherWords: number
  /** largest fraction that one passage contains, in any words; for several questions, their mean */
  best: number
  /** largest fraction that one sentence contains, with its passage's title */
  sentence: number
  /** cosine of the nearest passage, and of a median one; absent without vectors */
  nearest?: number
  background?: number
  /** the best passages are about the subject but contain no answer of the requested kind: no number, date or name */
  lacksKind: boolean
  /** the question may be in the language of the space */
  sameLanguage: boolean
}

/** Passages with nearly as much of the question as the first one count as best, up to a maximum. */
const MIN_BEST_FRACTION = 0.8
const MIN_NEAREST_FRACTION = 0.9
const MAX_BEST = 5

/** @param parts the wide searches of the questions in the query, one each */
export function computeTriageEvidence(
  query: string,
  parts: readonly WideSearch[],
  sample: readonly string[],
): TriageEvidence {
  const computeMean = (value: (part: WideSearch) => number): number => mean(parts.map(value))
  const [nearest, background] = (['nearest', 'background'] as const).map((name) => {
    const cosines = parts.flatMap((part) => part[name] ?? [])
    return cosines.length === 0 ? undefined : mean(cosines)
  })
  const best = selectBest(parts)
  return {
    terms: parts.reduce((sum, { queryTerms }) => sum + queryTerms.length, 0),
    specific: parts.reduce((sum, { queryTerms }) => sum + queryTerms.filter(({ term }) => isSpecific(term)).length, 0),
    known: roundThousandths(computeMean(({ known }) => known)),
    knownInOtherWords: roundThousandths(computeMean(({ knownInOtherWords }) => knownInOtherWords)),
    best: roundThousandths(computeMean(({ compared }) => Math.max(0, ...compared.map(({ fraction }) => fraction)))),
    sentence: roundThousandths(
      computeMean(({ compared }) => Math.max(0, ...compared.map(({ sentenceFraction }) => sentenceFraction))),
    ),
    ...(nearest === undefined ? {} : { nearest: roundThousandths(nearest) }),
    ...(background === undefined ? {} : { background: roundThousandths(background) }),
    lacksKind: isKindMissing(query, parts.length > 1 ? best : selectNearest(best)),
    sameLanguage: mayShareLanguage(query, [...sample, ...best.map(({ body }) => body)]),
  }
}

/**
 * Selects passages that contain hardly less than the first; others are often about something else and contain some
 * number or name.
 */
function selectNearest(best: readonly ComparedPassage[]): ComparedPassage[] {
  const [first] = best
  return first === undefined
    ? []
    : best.filter((one) => scorePassage(one) >= MIN_NEAREST_FRACTION * scorePassage(first))
}

function scorePassage({ fraction, sentenceFraction }: ComparedPassage): number {
  return fraction + sentenceFraction
}

/** The passages that contain most of each question, best first. */
export function selectBest(parts: readonly WideSearch[]): ComparedPassage[] {
  const each = Math.max(1, Math.floor(MAX_BEST / Math.max(1, parts.length)))
  return parts.flatMap(({ compared }) => {
    const [first] = compared
    if (first === undefined || first.fraction === 0) return []
    return compared.filter((one) => scorePassage(one) >= MIN_BEST_FRACTION * scorePassage(first)).slice(0, each)
  })
}

/** Known causes why a question was not answered from the existing documents; several may apply. */
export type TriageCause =
  | 'spelling'
  | 'other-words'
  | 'other-language'
  | 'several-questions'
  | 'long-question'
  | 'limited-to-documents'
  | 'below-threshold'
  | 'withheld'
  | 'published-later'
  | 'not-published'
  | 'kind-missing'

/** A question with this many terms contains a story around what it asks. */
export const MIN_LONG_TERMS = 14
/** Minimum fraction of a question's weight that counts as asked in other words. */
const MIN_OTHER_WORDS_FRACTION = 0.1

export function findCauses(
  evidence: TriageEvidence,
  parts: readonly WideSearch[],
  otherCauses: NonLexicalCauses,
): TriageCause[] {
  const { known, knownInOtherWords } = evidence
  const isRespelt = parts.some(({ respelt }) => respelt)
  const holds: [TriageCause, boolean][] = [
    ['not-published', otherCauses.unpublished.length > 0],
    ['published-later', otherCauses.later],
    ['limited-to-documents', otherCauses.limited],
    ['withheld', otherCauses.withheld],
    ['below-threshold', otherCauses.threshold],
    ['kind-missing', evidence.lacksKind],
    ['several-questions', parts.length > 1],
    ['long-question', evidence.terms >= MIN_LONG_TERMS],
    ['other-language', !evidence.sameLanguage],
    ['spelling', isRespelt],
    ['other-words', !isRespelt && knownInOtherWords - known >= MIN_OTHER_WORDS_FRACTION],
  ]
  return holds.filter(([, does]) => does).map(([cause]) => cause)
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}

function roundThousandths(value: number): number {
  return Math.round(value * 1000) / 1000
}
