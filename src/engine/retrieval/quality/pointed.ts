import { createHash } from 'node:crypto'
import { splitSentences } from '../../../lib/text/sentences.js'
import { parseJsonCell, unlessDamaged } from '../../store/readable.js'
import { type AnswerType, answerType, computeSignStrength } from '../query/question/answer-type.js'
import { type Facet, findFacets } from '../query/question/facets.js'
import { isPart, looksLike, sharesCharacter } from './spelling.js'
import { analyzeSubject, expandAbbreviations, FACET_WEIGHT, type SubjectTerm } from './subject-terms.js'

/** A passage of a question's evidence; `score` is 0 to 1. */
export interface EvidenceText {
  /** id of its node */
  id: string
  text: string
  score: number
}

/**
 * Sentences that a question points to, by a digest of their text, with the weight of each; weights add up to 1. Keys
 * with the prefix `KNOWN_TERM_PREFIX` are terms of the question that the best passage contains.
 */
export type PointedSentences = ReadonlyMap<string, number>

/** Prefix of the key of a term that the space contains. */
export const KNOWN_TERM_PREFIX = '='
/** Maximum sentences. */
const MAX_SENTENCES = 6
/** Shorter sentences are headings and fragments. */
const MIN_SENTENCE_CHARACTERS = 8
/** Weight of a match in another form, relative to the same term. */
const SYNONYM_WEIGHT = 0.8
const LOOKALIKE_WEIGHT = 0.8
const PART_WEIGHT = 0.6
const CHARACTER_WEIGHT = 0.4
const FILLER_WEIGHT = 0.2
/** A term of one sentence counts as one and a half: an unseen one may have it, too. */
const SINGLE_HOLDER_COUNT = 1.5
/**
 * Weights in logits: a sentence contains the complete question, it contains the kind of answer, it is in the best
 * passage.
 */
const COVERAGE_WEIGHT = 8
const KIND_WEIGHT = 1.5
const PASSAGE_WEIGHT = 2

/**
 * Finds the sentences of its evidence that a question points to: those with its words, their everyday synonyms, other
 * forms and spellings, and the kind of answer that it asks for. Two phrasings of one question point to the same
 * sentences, even without a common word. Empty when no sentence contains anything of the question.
 */
export function computePointedSentences(query: string, given: readonly EvidenceText[]): PointedSentences {
  const sentences = given.flatMap(({ id, text, score }) =>
    splitSentences(text)
      .map(({ start, end }) => text.slice(start, end).trim())
      .filter((sentence) => sentence.length >= MIN_SENTENCE_CHARACTERS)
      .map((sentence) => ({ sentence, score, passage: id, terms: analyzeSubject(sentence).terms })),
  )
  const queryTerms = [...analyzeSubject(expandAbbreviations(query)).terms]
  const matches = queryTerms.map(([term, { groups }]) =>
    sentences.map(({ terms }) => computeTermMatch(term, groups, terms)),
  )
  const weights = matches.map((values, index) => computeTermWeight(queryTerms[index]?.[1].weight ?? 0, values))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  if (total === 0) return new Map()
  const best = Math.max(...given.map(({ score }) => score)) || 1
  const type = findAnswerType(query)
  const text = query.toLowerCase()
  const logits = sentences.map(({ sentence, score }, index) => {
    const covered = matches.reduce((sum, values, term) => sum + (values[index] ?? 0) * (weights[term] ?? 0), 0) / total
    return (
      COVERAGE_WEIGHT * covered +
      KIND_WEIGHT * computeSignStrength(type, sentence, text) +
      (PASSAGE_WEIGHT * score) / best
    )
  })
  const sentenceWeights = computeSentenceWeights(
    sentences.map(({ sentence }) => sentence),
    logits,
  )
  // Terms in the passage of the best sentence: the space uses one of its words for one thing.
  const bestPassage = sentences[logits.indexOf(Math.max(...logits))]?.passage
  for (const [index, [term]] of queryTerms.entries())
    if (matches[index]?.some((value, i) => value >= LOOKALIKE_WEIGHT && sentences[i]?.passage === bestPassage) === true)
      sentenceWeights.set(
        KNOWN_TERM_PREFIX + term,
        Math.min(1, (weights[index] ?? 0) / Math.log(1 + sentences.length / SINGLE_HOLDER_COUNT)),
      )
  return sentenceWeights
}

/** Overlap of the sentences that two questions point to, 0 to 1: Bhattacharyya coefficient of their weights. */
export function computePointedOverlap(one: PointedSentences, other: PointedSentences): number {
  let sum = 0
  for (const [sentence, weight] of one)
    if (!sentence.startsWith(KNOWN_TERM_PREFIX)) sum += Math.sqrt(weight * (other.get(sentence) ?? 0))
  return Math.min(1, sum)
}

const ANSWER_TYPE_BY_FACET: Partial<Record<Facet, AnswerType>> = {
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
function findAnswerType(query: string): AnswerType {
  const [facet] = findFacets(query)
  return (facet === undefined ? undefined : ANSWER_TYPE_BY_FACET[facet]) ?? answerType(query)
}

/** Converts to the form that is stored in a row's metadata. */
export function toPointedCell(pointed: PointedSentences): Record<string, number> {
  return Object.fromEntries(pointed)
}

/** Parses the result of `toPointedCell`; empty for anything else. */
export function parsePointedCell(cell: string): PointedSentences {
  const read: unknown = unlessDamaged(() => parseJsonCell(cell))
  const entries = typeof read === 'object' && read !== null ? Object.entries(read) : []
  return new Map(entries.flatMap(([key, weight]) => (typeof weight === 'number' ? [[key, weight] as const] : [])))
}

/** How well a sentence contains a term in any form, 0 to 1. */
function computeTermMatch(term: string, groups: readonly number[], terms: ReadonlyMap<string, SubjectTerm>): number {
  if (terms.has(term)) return 1
  let best = 0
  for (const [other, sense] of terms) {
    if (groups.length > 0 && sense.groups.some((group) => groups.includes(group))) best = Math.max(best, SYNONYM_WEIGHT)
    else if (looksLike(term, other)) best = Math.max(best, LOOKALIKE_WEIGHT)
    else if (isPart(term, other)) best = Math.max(best, PART_WEIGHT)
    else if (sharesCharacter(term, other)) best = Math.max(best, CHARACTER_WEIGHT)
  }
  return best
}

/** Weight of a term among the sentences; a term in all or none of them has the least. */
function computeTermWeight(weight: number, matches: readonly number[]): number {
  const holders = matches.reduce((sum, value) => sum + value, 0)
  if (holders === 0) return 0
  return (
    Math.log(1 + matches.length / (SINGLE_HOLDER_COUNT - 1 + holders)) * (weight < FACET_WEIGHT ? FILLER_WEIGHT : 1)
  )
}

function computeSentenceWeights(sentences: readonly string[], logits: readonly number[]): Map<string, number> {
  const best = Math.max(...logits)
  const byDigest = new Map<string, number>()
  for (const [index, sentence] of sentences.entries()) {
    // Overlapping passages contain the same sentence.
    const key = hashSentence(sentence)
    byDigest.set(key, Math.max(byDigest.get(key) ?? 0, Math.exp((logits[index] ?? 0) - best)))
  }
  const kept = [...byDigest].sort(([, a], [, b]) => b - a).slice(0, MAX_SENTENCES)
  const total = kept.reduce((sum, [, value]) => sum + value, 0)
  return new Map(kept.map(([key, value]) => [key, Math.round((value / total) * 1000) / 1000]))
}

function hashSentence(sentence: string): string {
  return createHash('sha256').update(sentence.replace(/\s+/g, ' ')).digest('base64url').slice(0, 10)
}
