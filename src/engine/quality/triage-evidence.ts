import { kindMissing } from '../query/question/asked-kind.js'
import type { Circumstances } from './circumstances.js'
import { isSpecific } from './everyday-words.js'
import { mayShareLanguage } from './same-language.js'
import type { Compared } from './signs.js'
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
const NEARLY = 0.8
const HARDLY_LESS = 0.9
const BEST = 5

/** @param parts the wide searches of the questions in the query, one each */
export function evidenceOf(query: string, parts: readonly WideSearch[], sample: readonly string[]): TriageEvidence {
  const of = (value: (part: WideSearch) => number): number => mean(parts.map(value))
  const [nearest, background] = (['nearest', 'background'] as const).map((name) => {
    const cosines = parts.flatMap((part) => part[name] ?? [])
    return cosines.length === 0 ? undefined : mean(cosines)
  })
  const best = bestOf(parts)
  return {
    terms: parts.reduce((sum, { asked }) => sum + asked.length, 0),
    specific: parts.reduce((sum, { asked }) => sum + asked.filter(({ term }) => isSpecific(term)).length, 0),
    known: rounded(of(({ known }) => known)),
    knownInOtherWords: rounded(of(({ knownInOtherWords }) => knownInOtherWords)),
    best: rounded(of(({ compared }) => Math.max(0, ...compared.map(({ share }) => share)))),
    sentence: rounded(of(({ compared }) => Math.max(0, ...compared.map(({ sentenceShare }) => sentenceShare)))),
    ...(nearest === undefined ? {} : { nearest: rounded(nearest) }),
    ...(background === undefined ? {} : { background: rounded(background) }),
    lacksKind: kindMissing(query, parts.length > 1 ? best : nearestOf(best)),
    sameLanguage: mayShareLanguage(query, [...sample, ...best.map(({ body }) => body)]),
  }
}

/**
 * Selects passages that contain hardly less than the first; others are often about something else and contain some
 * number or name.
 */
function nearestOf(best: readonly Compared[]): Compared[] {
  const [first] = best
  return first === undefined ? [] : best.filter((one) => worthOf(one) >= HARDLY_LESS * worthOf(first))
}

function worthOf({ share, sentenceShare }: Compared): number {
  return share + sentenceShare
}

/** The passages that contain most of each question, best first. */
export function bestOf(parts: readonly WideSearch[]): Compared[] {
  const each = Math.max(1, Math.floor(BEST / Math.max(1, parts.length)))
  return parts.flatMap(({ compared }) => {
    const [first] = compared
    if (first === undefined || first.share === 0) return []
    return compared.filter((one) => worthOf(one) >= NEARLY * worthOf(first)).slice(0, each)
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
export const LONG_FROM = 14
/** Minimum fraction of a question's weight that counts as asked in other words. */
const NOTICEABLE = 0.1

export function causesOf(
  evidence: TriageEvidence,
  parts: readonly WideSearch[],
  circumstances: Circumstances,
): TriageCause[] {
  const { known, knownInOtherWords } = evidence
  const isRespelt = parts.some(({ respelt }) => respelt)
  const holds: [TriageCause, boolean][] = [
    ['not-published', circumstances.unpublished.length > 0],
    ['published-later', circumstances.later],
    ['limited-to-documents', circumstances.limited],
    ['withheld', circumstances.withheld],
    ['below-threshold', circumstances.threshold],
    ['kind-missing', evidence.lacksKind],
    ['several-questions', parts.length > 1],
    ['long-question', evidence.terms >= LONG_FROM],
    ['other-language', !evidence.sameLanguage],
    ['spelling', isRespelt],
    ['other-words', !isRespelt && knownInOtherWords - known >= NOTICEABLE],
  ]
  return holds.filter(([, does]) => does).map(([cause]) => cause)
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}

function rounded(share: number): number {
  return Math.round(share * 1000) / 1000
}
