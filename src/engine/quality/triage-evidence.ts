import { answerType, holdsAnswerOf } from '../query/answer-type.js'
import type { Compared } from './signs.js'
import type { WideSearch } from './wide-search.js'

/** What a wide search says of a failed query; shares are of the question's weight, 0 to 1. */
export interface TriageEvidence {
  /** distinct terms that say what the query is about */
  terms: number
  /** share that the space knows in the query's own words */
  known: number
  /** the same with other spellings, forms and everyday synonyms */
  knownInOtherWords: number
  /** the largest share that one passage holds, in any words */
  best: number
  /** the largest share that one sentence holds, with its passage's title */
  sentence: number
  /** cosine of the nearest passage, and of a middling one; absent without vectors */
  nearest?: number
  background?: number
  /** whether one of the best passages holds the kind of thing that is asked for; absent where the kind is not known */
  holdsKind?: boolean
}

/** Passages that count as best: nearly as much of the question as the first, and not more than this many. */
const NEARLY = 0.8
const BEST = 5

export function evidenceOf(query: string, search: WideSearch): TriageEvidence {
  const { asked, known, knownInOtherWords, compared, nearest, background } = search
  const best = bestOf(compared)
  const type = answerType(query)
  return {
    terms: asked.length,
    known: rounded(known),
    knownInOtherWords: rounded(knownInOtherWords),
    best: rounded(Math.max(0, ...compared.map(({ share }) => share))),
    sentence: rounded(Math.max(0, ...compared.map(({ sentenceShare }) => sentenceShare))),
    ...(nearest === undefined || background === undefined
      ? {}
      : { nearest: rounded(nearest), background: rounded(background) }),
    ...(type === 'any' || best.length === 0
      ? {}
      : { holdsKind: best.some(({ body }) => holdsAnswerOf(type, body, query)) }),
  }
}

/** The passages that hold most of the question, best first. */
export function bestOf(compared: readonly Compared[]): Compared[] {
  const [first] = compared
  if (first === undefined || first.share === 0) return []
  const worth = ({ share, sentenceShare }: Compared) => share + sentenceShare
  return compared.filter((one) => worth(one) >= NEARLY * worth(first)).slice(0, BEST)
}

function rounded(share: number): number {
  return Math.round(share * 1000) / 1000
}
