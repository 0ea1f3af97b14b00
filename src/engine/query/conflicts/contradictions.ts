import { analyzeCommon } from '../../../lib/text/analyze.js'
import { hashLinesOf, hashOf } from '../../../lib/text/hashed-terms.js'
import { splitSentences } from '../../../lib/text/sentences.js'
import { sentenceTerms } from '../sentence-terms.js'
import { type Relation, relationOf } from './compare.js'
import type { AskedOf } from './pair.js'
import { readStatements, type Statement, vocabulary } from './statements.js'
import { areParallel, titleWords } from './titles.js'
import { isUnspaced, ofUnspaced } from './unspaced.js'

export interface Contradiction {
  /** places of the two items in the list given */
  item: number
  other: number
  reason: string
  /** the sentences that contradict each other */
  says: [string, string]
}

/** Two items that differ, but in different things, or one after the other. */
export interface Difference extends Contradiction {
  kind: 'newer' | 'other'
}

export interface Compared {
  title: string
  text: string
  /** which document it is of; items of one document are not compared */
  document?: string
}

export interface Findings {
  conflicts: Contradiction[]
  differences: Difference[]
}

/** Share of the question that a sentence must hold with its title to be worth reading. */
const CONCERNS = 0.5
/** Of pairs of characters, those across two words are in no sentence. */
const CONCERNS_UNSPACED = 0.33
/** What a word that tells little of the subject weighs: minimum, length. */
const GENERAL_SHARE = 0.3
/** Sentences of an item that are read: those which hold most of the question. */
const SENTENCES = 3
/** Share of the shorter sentence's words that two must have in common to be taken apart. */
const ALIKE = 0.25
/** Of sentences of more words, which share some by chance. */
const LONG = 10
const ALIKE_LONG = 0.36
const ASKS_WHO =
  /\b(?:who|whom|whose|wer|wem)\b|\b(?:which|what) (?:company|firm|person|team|department|bank|agency|office|author|country|supplier|contractor|architect|artist|university)\b|谁|誰/iu
const ASKS_WHEN =
  /\bwhen\b|\b(?:what|which) (?:year|date|day|month)\b|\bhow long ago\b|\bdeadline\b|\bwann\b|哪一?年|何时|何時|什么时候|什麼時候/iu

/**
 * Which items contradict each other in what is asked: their sentences that speak of it are read as statements, and those
 * of different documents compared. What differs in time, place, version or the like is told apart.
 *
 * @param terms of the question, weighed by `idf`
 */
export function contradictions(
  query: string,
  terms: readonly string[],
  idf: (term: string) => number,
  items: readonly Compared[],
): Findings {
  const findings: Findings = { conflicts: [], differences: [] }
  if (items.length < 2) return findings
  const { concept, general, measures } = vocabulary()
  const weights = new Map(
    commonOf(query, terms).map(({ term, common }) => {
      const isGeneral = general.has(common) || measures.has(concept(common))
      return [concept(common), (isGeneral ? GENERAL_SHARE : 1) * Math.max(0.1, idf(term))]
    }),
  )
  const asked: AskedOf = {
    concepts: new Set(weights.keys()),
    asksWhen: ASKS_WHEN.test(query),
    asksWho: ASKS_WHO.test(query),
  }
  const sought = askedOf(weights)
  const read = items.map((item) => readItem(item, sought))
  for (const [item, one] of read.entries())
    for (let other = item + 1; other < read.length; other++) {
      const two = read[other]
      if (
        two === undefined ||
        (items[item]?.document !== undefined && items[item]?.document === items[other]?.document)
      )
        continue
      const found = compareItems(one, two, asked)
      if (found === undefined) continue
      const { relation, says } = found
      const pair = { item, other, says }
      if (relation.kind === 'conflict') findings.conflicts.push({ ...pair, reason: relation.reason })
      else findings.differences.push({ ...pair, kind: relation.kind, reason: relation.reason })
    }
  return findings
}

/** Terms of the question with the forms that sentences of any language hold, which is what the vocabulary knows. */
function commonOf(query: string, terms: readonly string[]): { term: string; common: string }[] {
  const common = analyzeCommon(query)
  const isSame = common.length === terms.length
  return (isSame ? terms : common).map((term, place) => ({ term, common: isSame ? (common[place] ?? term) : term }))
}

interface ReadItem {
  sentences: readonly string[]
  /** concepts of each sentence that speaks of what is asked; undefined for others */
  concerns: readonly (ReadonlySet<string> | undefined)[]
  /** read when first asked for: few items have sentences that are like another's */
  statements: () => Statement[]
  title: ReadonlySet<string>
  titleWords: string[]
}

const BEGINS_WITH_PRONOUN = /^(?:it|they|this|these|he|she|er|sie|es)\b/iu

function readItem({ title, text }: Compared, asked: Asked): ReadItem {
  const inTitle = askedIn(asked, title)
  const sentences = splitSentences(text).map(({ start, end }) => text.slice(start, end))
  let previous = 0
  const held = sentences.map((sentence) => {
    const within = askedIn(asked, sentence)
    // what it speaks of may be said in the sentence before
    const all = within | inTitle | (BEGINS_WITH_PRONOUN.test(sentence) ? previous : 0)
    previous = within
    const least = isUnspaced(sentence) ? CONCERNS_UNSPACED : CONCERNS
    return weightOf(asked, all) >= least * asked.total ? weightOf(asked, within) : 0
  })
  const least = [...held].sort((a, b) => b - a)[SENTENCES - 1] ?? 0
  const concerns = held.map((weight, place) =>
    weight > 0 && weight >= least ? conceptsOf(sentences[place] ?? '') : undefined,
  )
  let statements: Statement[] | undefined
  return {
    sentences,
    concerns,
    statements: () => {
      statements ??= readStatements(
        sentences,
        concerns.map((one) => one !== undefined),
      )
      return statements
    },
    title: conceptsOf(title),
    titleWords: titleWords(title),
  }
}

/** Concepts of a text's words. */
export function conceptsOf(text: string): Set<string> {
  const { concept } = vocabulary()
  const found = new Set<string>()
  for (const term of sentenceTerms(text)) found.add(concept(term))
  return found
}

/** The question's concepts, as bits, so that a text is looked through without a set for each of its sentences. */
interface Asked {
  /** every stem of each concept, to its bit; and the hashes of those stems */
  bits: ReadonlyMap<string, number>
  hashed: ReadonlyMap<number, number>
  /** by place of the bit */
  weights: readonly number[]
  total: number
}

/** Longer questions are weighed by their first concepts. */
const MOST_BITS = 30

function askedOf(weights: ReadonlyMap<string, number>): Asked {
  const { stemsOf, opposite, scaleOf } = vocabulary()
  const kept = [...weights].slice(0, MOST_BITS)
  const bits = new Map<string, number>()
  for (const [place, [concept]] of kept.entries()) {
    const { scale } = opposite(concept) ?? {}
    // a question about one end of a scale is answered by the other
    const stems = scale === undefined ? stemsOf(concept) : [...stemsOf(concept), ...scaleOf(scale)]
    for (const stem of stems) if (!bits.has(stem)) bits.set(stem, 1 << place)
  }
  const hashed = new Map(Array.from(bits, ([stem, bit]) => [hashOf(stem), bit]))
  const total = kept.reduce((sum, [, weight]) => sum + weight, 0)
  return { bits, hashed, weights: kept.map(([, weight]) => weight), total }
}

function askedIn({ bits, hashed }: Asked, text: string): number {
  let found = 0
  const isRead = hashLinesOf(text, (hash) => {
    found |= hashed.get(hash) ?? 0
  })
  if (isRead) return found
  for (const term of sentenceTerms(text)) found |= bits.get(term) ?? 0
  return found
}

function weightOf({ weights }: Asked, found: number): number {
  let sum = 0
  for (const [place, weight] of weights.entries()) if ((found & (1 << place)) !== 0) sum += weight
  return sum
}

/** The first contradiction of two items; where there is none, the first difference. */
function compareItems(
  one: ReadItem,
  two: ReadItem,
  asked: AskedOf,
): { relation: Relation; says: [string, string] } | undefined {
  let difference: { relation: Relation; says: [string, string] } | undefined
  const titles = [one.title, two.title] as const
  if (!haveAlike(one, two)) return undefined
  for (const left of one.statements())
    for (const right of two.statements()) {
      const relation = relationOf(left, right, { asked, titles })
      if (relation === undefined) continue
      const found = { relation, says: [left.sentence, right.sentence] satisfies [string, string] }
      if (relation.kind !== 'conflict') difference ??= found
      else if (!areParallel(one.titleWords, two.titleWords)) return found
      else
        difference ??= {
          ...found,
          relation: { ...relation, kind: 'other', reason: 'documents of the same kind on different things' },
        }
    }
  for (const left of unspacedOf(one))
    for (const right of unspacedOf(two)) {
      const relation = ofUnspaced(left, right)
      if (relation !== undefined) return { relation, says: [left, right] }
    }
  return difference
}

/** Sentences without spaces between words, which are compared as they stand. */
function unspacedOf({ sentences, concerns }: ReadItem): string[] {
  return sentences.filter((sentence, place) => concerns[place] !== undefined && isUnspaced(sentence))
}

/** Whether a sentence of one shares enough words with one of the other to be worth taking apart. */
function haveAlike(one: ReadItem, two: ReadItem): boolean {
  return one.concerns.some(
    (left) => left !== undefined && two.concerns.some((right) => right !== undefined && areAlike(left, right)),
  )
}

function areAlike(one: ReadonlySet<string>, two: ReadonlySet<string>): boolean {
  const [less, more] = one.size < two.size ? [one, two] : [two, one]
  let shared = 0
  for (const concept of less) if (more.has(concept)) shared++
  return shared >= (less.size > LONG ? ALIKE_LONG : ALIKE) * less.size
}
