import { compareStatements, type DisagreementKind, getOwnWords, type StatementRelation } from '../statements/compare.js'
import type { Statement } from '../statements/statements.js'
import { areTitlesOfThings } from '../statements/titles.js'
import { MAX_SHORT_WORDS, type ParsedPassage } from './claims.js'

export type ConflictKind = DisagreementKind
export type ConflictRelation = 'contradiction' | 'newer' | 'other'

/** Two sentences that contradict each other, or differ in subject, time or version. */
export interface ClaimDisagreement {
  kind: ConflictKind
  relation: ConflictRelation
  reason: string
  quotes: [string, string]
}

/** A longer sentence in two documents was almost certainly copied. */
const MIN_COPIED_LENGTH = 60

/** A claim of a passage, by its index there. */
export interface ClaimReference {
  passage: ParsedPassage
  index: number
}

/** Whether two claims are the same sentence: one document copied the other, or both a third. */
export function isCopy(one: ClaimReference, other: ClaimReference): boolean {
  const [left, right] = [one, other].map(({ passage, index }) => passage.statements[index]?.sentence)
  return left !== undefined && left.length >= MIN_COPIED_LENGTH && left === right
}

/**
 * Minimum fraction of shared words, without the words in which the two disagree. For an answer, the question defines
 * the subject; here nothing does, and a space has millions of pairs.
 */
const MIN_SHARED_FRACTION = 0.6
const MIN_SHARED_WORDS = 2
/** Words of scripts without spaces are shorter, and one of them may be a measure: `body length up to`. */
const MIN_SHARED_UNSPACED = 5
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u
const MIN_SENTENCE_LIKENESS = 0.3
/** The day to which figures refer, not one on which something happened. */
const STATED_AT = /\bas (?:of|at|on)\b|\b(?:years?|quarters?|months|periods?) ended\b|\bzum \d|\bstand\b/iu
/** More dates are a list. */
const MAX_MOMENTS = 2
const ARTICLE = /^(?:the|der|die|das|le|la|el)$/u
const COPULA = /^(?:is|was|ist|war|est|était|es|era)$/u
const AGENT = /^(?:by|von|par|por)$/u

/** Compares two claims; undefined when they agree, or are not certainly about one fact. */
export function compareClaims(one: ClaimReference, other: ClaimReference): ClaimDisagreement | undefined {
  const [left, right] = [one, other].map(({ passage, index }) => passage.statements[index])
  if (left === undefined || right === undefined) return undefined
  const heads = [one.passage.heads, other.passage.heads] as const
  const shared = new Set([...left.stems].filter((stem) => right.stems.has(stem)))
  if (shared.size < (UNSPACED.test(left.sentence) ? MIN_SHARED_UNSPACED : MIN_SHARED_WORDS)) return undefined
  // Without a question, the shared words are the subject.
  const focus = { stems: shared, asksWhen: false, asksOne: hasOneValue(left) && hasOneValue(right) }
  const relation = compareStatements(left, right, { focus, heads })
  if (relation === undefined || !areAboutOneFact([left, right], heads, shared, relation)) return undefined
  return toDisagreement(relation, [left, right], one, other)
}

/** `The default branch is main`, `… was written by …`: there is one value. */
function hasOneValue({ line, words }: Statement): boolean {
  const isDefinite =
    ARTICLE.test(line[0] ?? '') && words.length <= MAX_SHORT_WORDS && line.some((token) => COPULA.test(token))
  return isDefinite || line.some((token) => AGENT.test(token))
}

function areAboutOneFact(
  [left, right]: readonly [Statement, Statement],
  heads: readonly [ReadonlySet<string>, ReadonlySet<string>],
  shared: ReadonlySet<string>,
  { by, values }: StatementRelation,
): boolean {
  const own = [getOwnWords(left, right, heads[1]), getOwnWords(right, left, heads[0])]
  const rest = own.flat().filter((word) => !values.has(word) && !word.isVerbal).length
  if (shared.size / (shared.size + rest) < MIN_SHARED_FRACTION) return false
  if (by === 'date')
    return ![left, right].some(({ moments, sentence }) => moments.length > MAX_MOMENTS || STATED_AT.test(sentence))
  // For a denial or an opposite, the rest of the clause defines the subject.
  return by === 'number' || by === 'alternative' || computeSharedFraction(left, right) >= MIN_SENTENCE_LIKENESS
}

/** Fraction of the words of both that both have. */
function computeSharedFraction({ stems: left }: Statement, { stems: right }: Statement): number {
  const shared = [...left].filter((stem) => right.has(stem)).length
  return shared / Math.max(1, left.size + right.size - shared)
}

function toDisagreement(
  { kind, by, reason }: StatementRelation,
  [left, right]: readonly [Statement, Statement],
  { passage: one }: ClaimReference,
  { passage: other }: ClaimReference,
): ClaimDisagreement {
  const quotes: [string, string] = [left.sentence.trim(), right.sentence.trim()]
  const found = { kind: by, quotes }
  if (kind !== 'conflict') return { ...found, relation: kind, reason }
  if (!areTitlesOfThings(one.title, other.title, (stem) => left.stems.has(stem) || right.stems.has(stem)))
    return { ...found, relation: 'contradiction', reason }
  return { ...found, relation: 'other', reason: `${reason}; documents of the same kind about different things` }
}
