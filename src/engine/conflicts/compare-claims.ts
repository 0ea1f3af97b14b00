import { type Relation, relationOf } from '../query/conflicts/compare.js'
import { conceptsOf } from '../query/conflicts/contradictions.js'
import { isVerbal, ownOf } from '../query/conflicts/pair.js'
import { type Statement, vocabulary } from '../query/conflicts/statements.js'
import { areParallel } from '../query/conflicts/titles.js'
import { ofUnspaced } from '../query/conflicts/unspaced.js'
import type { ReadPassage } from './claims.js'

export type ConflictKind = 'number' | 'date' | 'negation' | 'opposite' | 'alternative'
export type ConflictRelation = 'contradiction' | 'newer' | 'other'

/** Two sentences that disagree, or differ in another thing, time or version. */
export interface Disagreement {
  kind: ConflictKind
  relation: ConflictRelation
  reason: string
  quotes: [string, string]
}

/** A longer sentence that two documents share was hardly written twice. */
const LEAST_COPIED = 60

/** Whether two claims are one sentence, which one document has of the other, or both of a third. */
export function isCopy(one: PlacedClaim, other: PlacedClaim): boolean {
  const [left, right] = [one, other].map(({ passage, place }) =>
    place < 0 ? passage.unspaced[-1 - place] : passage.statements[place]?.sentence,
  )
  return left !== undefined && left.length >= LEAST_COPIED && left === right
}

/** A claim of a passage, by its place there. */
export interface PlacedClaim {
  passage: ReadPassage
  place: number
}

/**
 * Share of the words of both, less those that they disagree in, that the two must have in common. Of an answer the
 * question says what is spoken of; here nothing does, and a space has millions of pairs. Of the tuned pairs of
 * `bench/meaning/contradictions.ts` one true one in thirty lies below, of the alarms of SQuAD 2 and Cranfield nine in ten.
 */
const SAME_WORDS = 0.6
const LEAST_SHARED = 2
const SAME_SENTENCE = 0.3
/** Statements of no more words say one thing: the default branch is main. */
const SHORT = 5
/** The day that figures are of, and not one on which something happened. */
const STATED_AT = /\bas (?:of|at|on)\b|\b(?:years?|quarters?|months|periods?) ended\b|\bzum \d|\bstand\b/iu
/** More dates are a list of them. */
const MOST_MOMENTS = 2
const SAME_SHORT_SENTENCE = 0.5

const KINDS: Record<Relation['by'], ConflictKind> = {
  number: 'number',
  scale: 'opposite',
  denial: 'negation',
  turned: 'negation',
  date: 'date',
  name: 'alternative',
}

/** What two claims are to each other; undefined where they agree, or are not of one fact beyond doubt. */
export function compareClaims(one: PlacedClaim, other: PlacedClaim): Disagreement | undefined {
  if (one.place < 0 || other.place < 0) return compareUnspaced(one, other)
  const [left, right] = [one, other].map(({ passage, place }) => passage.statements[place])
  if (left === undefined || right === undefined) return undefined
  const titles = [one.passage.title, other.passage.title] as const
  const shared = new Set([...left.concepts].filter((concept) => right.concepts.has(concept)))
  if (shared.size < LEAST_SHARED) return undefined
  // nobody asked: what both speak of is the question
  const relation = relationOf(left, right, { asked: { concepts: shared, asksWhen: false, asksWho: false }, titles })
  if (relation === undefined || !isOneFact([left, right], titles, shared, relation)) return undefined
  return disagreement(relation, [left.sentence, right.sentence], one, other)
}

function compareUnspaced(one: PlacedClaim, other: PlacedClaim): Disagreement | undefined {
  const [left, right] = [one, other].map(({ passage, place }) => passage.unspaced[-1 - place])
  const relation = left === undefined || right === undefined ? undefined : ofUnspaced(left, right)
  return left === undefined || right === undefined || relation === undefined
    ? undefined
    : disagreement(relation, [left, right], one, other)
}

function isOneFact(
  [left, right]: readonly [Statement, Statement],
  titles: readonly [ReadonlySet<string>, ReadonlySet<string>],
  shared: ReadonlySet<string>,
  { by, values }: Relation,
): boolean {
  const own = [ownOf(left, right, titles[1]), ownOf(right, left, titles[0])]
  const isValue = ({ shown }: { shown: string }): boolean => values.includes(shown.toLowerCase())
  const rest = own.flat().filter((word) => !isValue(word) && !isVerbal(word)).length
  if (shared.size / (shared.size + rest) < SAME_WORDS) return false
  // of a denial or an opposite, what the clause belongs to says of what it is
  const alike = likeness(left.sentence, right.sentence)
  if (
    by === 'date' &&
    [left, right].some(({ moments, sentence }) => moments.length > MOST_MOMENTS || STATED_AT.test(sentence))
  )
    return false
  if (by !== 'name') return by === 'number' || by === 'date' || alike >= SAME_SENTENCE
  // a word in the place of another is a value where both are names, or two of one kind: colours, materials
  const { alternative } = vocabulary()
  const valued = own.map((words) => words.filter(isValue))
  const kinds = valued.map((words) => words.map(({ stem }) => alternative(stem)).find((kind) => kind !== undefined))
  const areNames = valued.every((words) => words.length > 0 && words.every(({ isName }) => isName))
  const isShort = [left, right].every(({ words }) => words.length <= SHORT) && alike >= SAME_SHORT_SENTENCE
  const areValues = isShort && valued.every((words) => words.length === 1 && words.every(({ isSubject }) => !isSubject))
  return areNames || areValues || (kinds[0] !== undefined && kinds[0] === kinds[1])
}

/** Share of the words of both sentences that both have. */
function likeness(one: string, other: string): number {
  const [left, right] = [conceptsOf(one), conceptsOf(other)]
  const shared = [...left].filter((concept) => right.has(concept)).length
  return shared / Math.max(1, left.size + right.size - shared)
}

function disagreement(
  { kind, by, reason }: Relation,
  [one, other]: readonly [string, string],
  { passage: { titleWords } }: PlacedClaim,
  { passage: { titleWords: others } }: PlacedClaim,
): Disagreement {
  const found = { kind: KINDS[by], quotes: [one.trim(), other.trim()] satisfies [string, string] }
  if (kind !== 'conflict') return { ...found, relation: kind, reason }
  if (!areParallel(titleWords, others)) return { ...found, relation: 'contradiction', reason }
  return { ...found, relation: 'other', reason: `${reason}; documents of the same kind on different things` }
}
