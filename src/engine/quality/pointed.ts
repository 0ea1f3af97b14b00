import { createHash } from 'node:crypto'
import { splitSentences } from '../../lib/text/sentences.js'
import { signOf } from '../query/answer-signs.js'
import { type AnswerType, answerType } from '../query/answer-type.js'
import { type Facet, facetsOf } from '../query/question/facets.js'
import { fromCell, unlessDamaged } from '../storage/readable.js'
import { isPart, looksLike, sharesCharacter } from './spelling.js'
import { type SubjectTerm, subjectOf, WEIGHT_OF_FACET, writtenOut } from './subject-terms.js'

/** A passage of a question's evidence; `score` is 0 to 1. */
export interface Given {
  /** id of its node */
  id: string
  text: string
  score: number
}

/**
 * Sentences that a question points to, by a digest of their text, with the weight of each; weights add up to 1. Keys
 * with the prefix `KNOWN_TERM_PREFIX` are terms of the question that the best passage contains.
 */
export type Pointed = ReadonlyMap<string, number>

/** Prefix of the key of a term that the space contains. */
export const HELD = '='
/** Maximum sentences. */
const KEPT = 6
/** Shorter sentences are headings and fragments. */
const SHORTEST = 8
/** Weight of a match in another form, relative to the same term. */
const SYNONYM = 0.8
const LOOKALIKE = 0.8
const PART = 0.6
const HALF = 0.4
const FILLER = 0.2
/** A term of one sentence counts as one and a half: an unseen one may have it, too. */
const LONE = 1.5
/**
 * Weights in logits: a sentence contains the complete question, it contains the kind of answer, it is in the best
 * passage.
 */
const HOLDS_ALL = 8
const HOLDS_KIND = 1.5
const BEST_PASSAGE = 2

/**
 * Finds the sentences of its evidence that a question points to: those with its words, their everyday synonyms, other
 * forms and spellings, and the kind of answer that it asks for. Two phrasings of one question point to the same
 * sentences, even without a common word. Empty when no sentence contains anything of the question.
 */
export function pointedTo(query: string, given: readonly Given[]): Pointed {
  const sentences = given.flatMap(({ id, text, score }) =>
    splitSentences(text)
      .map(({ start, end }) => text.slice(start, end).trim())
      .filter((sentence) => sentence.length >= SHORTEST)
      .map((sentence) => ({ sentence, score, passage: id, terms: subjectOf(sentence).terms })),
  )
  const asked = [...subjectOf(writtenOut(query)).terms]
  const held = asked.map(([term, { groups }]) => sentences.map(({ terms }) => heldBy(term, groups, terms)))
  const weights = held.map((values, at) => weightOf(asked[at]?.[1].weight ?? 0, values))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  if (total === 0) return new Map()
  const best = Math.max(...given.map(({ score }) => score)) || 1
  const type = typeOf(query)
  const text = query.toLowerCase()
  const logits = sentences.map(({ sentence, score }, at) => {
    const covered = held.reduce((sum, values, term) => sum + (values[at] ?? 0) * (weights[term] ?? 0), 0) / total
    return HOLDS_ALL * covered + HOLDS_KIND * signOf(type, sentence, text) + (BEST_PASSAGE * score) / best
  })
  const shares = sharesOf(
    sentences.map(({ sentence }) => sentence),
    logits,
  )
  // Terms in the passage of the best sentence: the space uses one of its words for one thing.
  const from = sentences[logits.indexOf(Math.max(...logits))]?.passage
  for (const [at, [term]] of asked.entries())
    if (held[at]?.some((value, place) => value >= LOOKALIKE && sentences[place]?.passage === from) === true)
      shares.set(HELD + term, Math.min(1, (weights[at] ?? 0) / Math.log(1 + sentences.length / LONE)))
  return shares
}

/** Overlap of the sentences that two questions point to, 0 to 1: Bhattacharyya coefficient of their weights. */
export function overlapOf(one: Pointed, other: Pointed): number {
  let sum = 0
  for (const [sentence, share] of one)
    if (!sentence.startsWith(HELD)) sum += Math.sqrt(share * (other.get(sentence) ?? 0))
  return Math.min(1, sum)
}

const OF_FACETS: Partial<Record<Facet, AnswerType>> = {
  price: 'money',
  count: 'number',
  length: 'number',
  duration: 'duration',
  frequency: 'duration',
  time: 'time',
  place: 'place',
  person: 'person',
  reason: 'reason',
  measure: 'number',
}

/** Kind of answer that a question asks for; for keywords (`parking fee`) by their facet. */
function typeOf(query: string): AnswerType {
  const [facet] = facetsOf(query)
  return (facet === undefined ? undefined : OF_FACETS[facet]) ?? answerType(query)
}

/** Converts to the form that is stored in a row's metadata. */
export function pointedCell(pointed: Pointed): Record<string, number> {
  return Object.fromEntries(pointed)
}

/** Parses the result of `toPointedCell`; empty for anything else. */
export function readPointed(cell: string): Pointed {
  const read: unknown = unlessDamaged(() => fromCell(cell))
  const shares = typeof read === 'object' && read !== null ? Object.entries(read) : []
  return new Map(shares.flatMap(([sentence, share]) => (typeof share === 'number' ? [[sentence, share] as const] : [])))
}

/** How well a sentence contains a term in any form, 0 to 1. */
function heldBy(term: string, groups: readonly number[], terms: ReadonlyMap<string, SubjectTerm>): number {
  if (terms.has(term)) return 1
  let most = 0
  for (const [other, sense] of terms) {
    if (groups.length > 0 && sense.groups.some((group) => groups.includes(group))) most = Math.max(most, SYNONYM)
    else if (looksLike(term, other)) most = Math.max(most, LOOKALIKE)
    else if (isPart(term, other)) most = Math.max(most, PART)
    else if (sharesCharacter(term, other)) most = Math.max(most, HALF)
  }
  return most
}

/** Weight of a term among the sentences; a term in all or none of them has the least. */
function weightOf(weight: number, held: readonly number[]): number {
  const holders = held.reduce((sum, value) => sum + value, 0)
  if (holders === 0) return 0
  return Math.log(1 + held.length / (LONE - 1 + holders)) * (weight < WEIGHT_OF_FACET ? FILLER : 1)
}

function sharesOf(sentences: readonly string[], logits: readonly number[]): Map<string, number> {
  const best = Math.max(...logits)
  const byDigest = new Map<string, number>()
  for (const [at, sentence] of sentences.entries()) {
    // Overlapping passages contain the same sentence.
    const key = digestOf(sentence)
    byDigest.set(key, Math.max(byDigest.get(key) ?? 0, Math.exp((logits[at] ?? 0) - best)))
  }
  const kept = [...byDigest].sort(([, a], [, b]) => b - a).slice(0, KEPT)
  const total = kept.reduce((sum, [, value]) => sum + value, 0)
  return new Map(kept.map(([key, value]) => [key, Math.round((value / total) * 1000) / 1000]))
}

function digestOf(sentence: string): string {
  return createHash('sha256').update(sentence.replace(/\s+/g, ' ')).digest('base64url').slice(0, 10)
}
