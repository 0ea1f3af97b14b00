import { type DisagreementKind, ownWords, type Relation, relationOf } from '../query/conflicts/compare.js'
import type { Statement } from '../query/conflicts/statements.js'
import { areTitlesOfThings } from '../query/conflicts/titles.js'
import { type ReadPassage, SHORT } from './claims.js'

export type ConflictKind = DisagreementKind
export type ConflictRelation = 'contradiction' | 'newer' | 'other'

/** Two sentences that contradict each other, or differ in subject, time or version. */
export interface Disagreement {
  kind: ConflictKind
  relation: ConflictRelation
  reason: string
  quotes: [string, string]
}

/** A longer sentence in two documents was almost certainly copied. */
const LEAST_COPIED = 60

/** A claim of a passage, by its index there. */
export interface PlacedClaim {
  passage: ReadPassage
  place: number
}

/** Whether two claims are the same sentence: one document copied the other, or both a third. */
export function isCopy(one: PlacedClaim, other: PlacedClaim): boolean {
  const [left, right] = [one, other].map(({ passage, place }) => passage.statements[place]?.sentence)
  return left !== undefined && left.length >= LEAST_COPIED && left === right
}

/**
 * Minimum fraction of shared words, without the words in which the two disagree. For an answer, the question defines
 * the subject; here nothing does, and a space has millions of pairs.
 */
const SAME_WORDS = 0.6
const LEAST_SHARED = 2
/** Words of scripts without spaces are shorter, and one of them may be a measure: `body length up to`. */
const LEAST_SHARED_UNSPACED = 5
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u
const SAME_SENTENCE = 0.3
/** The day to which figures refer, not one on which something happened. */
const STATED_AT = /\bas (?:of|at|on)\b|\b(?:years?|quarters?|months|periods?) ended\b|\bzum \d|\bstand\b/iu
/** More dates are a list. */
const MOST_MOMENTS = 2
const ARTICLE = /^(?:the|der|die|das|le|la|el)$/u
const COPULA = /^(?:is|was|ist|war|est|était|es|era)$/u
const AGENT = /^(?:by|von|par|por)$/u

/** Compares two claims; undefined when they agree, or are not certainly about one fact. */
export function compareClaims(one: PlacedClaim, other: PlacedClaim): Disagreement | undefined {
  const [left, right] = [one, other].map(({ passage, place }) => passage.statements[place])
  if (left === undefined || right === undefined) return undefined
  const heads = [one.passage.heads, other.passage.heads] as const
  const shared = new Set([...left.stems].filter((stem) => right.stems.has(stem)))
  if (shared.size < (UNSPACED.test(left.sentence) ? LEAST_SHARED_UNSPACED : LEAST_SHARED)) return undefined
  // Without a question, the shared words are the subject.
  const asked = { stems: shared, asksWhen: false, asksOne: hasOneValue(left) && hasOneValue(right) }
  const relation = relationOf(left, right, { asked, heads })
  if (relation === undefined || !isOneFact([left, right], heads, shared, relation)) return undefined
  return disagreement(relation, [left, right], one, other)
}

/** `The default branch is main`, `… was written by …`: there is one value. */
function hasOneValue({ line, words }: Statement): boolean {
  const isDefinite = ARTICLE.test(line[0] ?? '') && words.length <= SHORT && line.some((token) => COPULA.test(token))
  return isDefinite || line.some((token) => AGENT.test(token))
}

function isOneFact(
  [left, right]: readonly [Statement, Statement],
  heads: readonly [ReadonlySet<string>, ReadonlySet<string>],
  shared: ReadonlySet<string>,
  { by, values }: Relation,
): boolean {
  const own = [ownWords(left, right, heads[1]), ownWords(right, left, heads[0])]
  const rest = own.flat().filter((word) => !values.has(word) && !word.isVerbal).length
  if (shared.size / (shared.size + rest) < SAME_WORDS) return false
  if (by === 'date')
    return ![left, right].some(({ moments, sentence }) => moments.length > MOST_MOMENTS || STATED_AT.test(sentence))
  // For a denial or an opposite, the rest of the clause defines the subject.
  return by === 'number' || by === 'alternative' || likeness(left, right) >= SAME_SENTENCE
}

/** Fraction of the words of both that both have. */
function likeness({ stems: left }: Statement, { stems: right }: Statement): number {
  const shared = [...left].filter((stem) => right.has(stem)).length
  return shared / Math.max(1, left.size + right.size - shared)
}

function disagreement(
  { kind, by, reason }: Relation,
  [left, right]: readonly [Statement, Statement],
  { passage: one }: PlacedClaim,
  { passage: other }: PlacedClaim,
): Disagreement {
  const quotes: [string, string] = [left.sentence.trim(), right.sentence.trim()]
  const found = { kind: by, quotes }
  if (kind !== 'conflict') return { ...found, relation: kind, reason }
  if (!areTitlesOfThings(one.title, other.title, (stem) => left.stems.has(stem) || right.stems.has(stem)))
    return { ...found, relation: 'contradiction', reason }
  return { ...found, relation: 'other', reason: `${reason}; documents of the same kind about different things` }
}
