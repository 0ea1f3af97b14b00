import { analyzeContent, analyzeQuery, forEachTerm } from '../../lib/text/analyze.js'
import { type AnswerType, answerType, holdsAnswerOf } from './answer-type.js'
import type { FollowUp } from './follow-up.js'
import { piecesOf } from './pieces.js'

interface AnswerSentence {
  text: string
  /** place of its passage in the evidence, from 0 */
  evidenceIndex: number
}

export interface ExtractiveAnswer {
  /** in reading order */
  sentences: AnswerSentence[]
  /** the sentences with their citation marks: `It is so. [1] And so. [3]` */
  text: string
}

/** Passages looked at; what ranks lower is not quoted. */
const PASSAGES = 6
const MAX_SENTENCES = 3
/** What a sentence gains by each sign that it answers; coverage of the query counts 1. */
const WEIGHTS = { typed: 0.25, neighbour: 0.2, titled: 0.35, rank: 0.25, adjacent: 0.15 }
/** Another sentence must come this near to the best one, … */
const NEAR_BEST = 0.6
/** … hold this much of the query that the ones before it do not, … */
const NEW_COVERAGE = 0.15
/** … and with its title this much in all, or it speaks of something else. */
const OWN_COVERAGE = 0.5
/** Headings and scraps of fewer terms are not answers, unless there is nothing else. */
const MIN_TERMS = 3

interface Candidate {
  evidenceIndex: number
  order: number
  text: string
  held: Set<string>
  /** share of the query that the sentence and its title hold together */
  covered: number
  score: number
}

interface Question {
  text: string
  type: AnswerType
  weights: Map<string, number>
  total: number
  pairs: Set<string>
}

interface Quotable {
  text: string
  title: string
}

/** Evidence in rank order; `idf` weighs terms. */
interface Asked {
  query: string
  evidence: readonly Quotable[]
  idf: (term: string) => number
}

/**
 * Answers with the evidence's own words: the one to three sentences that hold most of the question and the kind of
 * thing it asks for, each cited by the place of its passage. Empty where no sentence holds a word of the question.
 */
export function extractiveAnswer({ query, evidence, idf }: Asked): ExtractiveAnswer {
  return answerOf(prepare(query, idf), evidence)
}

/**
 * Answers a question that goes on from another. Its own words choose the sentences, in passages that speak of what it
 * goes on from; one without any of its own (`and when?`) asks for a thing of another kind that the same words lead to.
 * Empty where it adds nothing, or nothing found says more on it.
 */
export function extractiveFollowUp({ query, evidence, idf }: Asked, { anchor, ownTerms, isShort }: FollowUp) {
  const type = answerType(query)
  if (ownTerms.length === 0) {
    if (type === 'any' || type === 'definition') return EMPTY
    const question = { ...prepare(anchor, idf), type }
    return answerOf(question, evidence, ({ text }) => holdsAnswerOf(type, text, anchor))
  }
  const named = new Set(analyzeContent(anchor))
  const related = new Set(evidence.filter((passage) => holdsAny(named, passage)))
  const question = prepare(query, idf)
  const own = new Set(ownTerms)
  const isOwn = (candidate: Candidate): boolean => {
    const passage = evidence[candidate.evidenceIndex]
    if (passage === undefined || !holdsAny(own, { ...passage, text: candidate.text })) return false
    return related.has(passage) || (related.size === 0 && !isShort)
  }
  return answerOf(question, evidence, isOwn)
}

/** What stands for an answer where no sentence holds a word of the question: how the closest passage begins. */
export function closestPassage(evidence: readonly Quotable[]): AnswerSentence[] {
  for (const [evidenceIndex, { text }] of evidence.entries()) {
    const sentences = piecesOf(text, new Set()).map((piece) => piece.text)
    const first = sentences.find((sentence) => analyzeContent(sentence).length >= MIN_TERMS) ?? sentences[0]
    if (first !== undefined) return [{ text: first, evidenceIndex }]
  }
  return []
}

const EMPTY: ExtractiveAnswer = { sentences: [], text: '' }

function answerOf(
  question: Question,
  evidence: readonly Quotable[],
  isWanted: (candidate: Candidate) => boolean = () => true,
): ExtractiveAnswer {
  const candidates = evidence
    .slice(0, PASSAGES)
    .flatMap((passage, place) => candidatesOf(question, passage, place))
    .filter(isWanted)
  const sentences = choose(question, candidates)
    .sort((a, b) => a.evidenceIndex - b.evidenceIndex || a.order - b.order)
    .map(({ text, evidenceIndex }) => ({ text, evidenceIndex }))
  return { sentences, text: sentences.map((sentence) => `${sentence.text} [${sentence.evidenceIndex + 1}]`).join(' ') }
}

function holdsAny(terms: ReadonlySet<string>, { title, text }: Quotable): boolean {
  let isHeld = false
  forEachTerm(`${title}\n${text}`, (term) => {
    isHeld ||= terms.has(term)
  })
  return isHeld
}

function prepare(query: string, idf: (term: string) => number): Question {
  const terms = analyzeQuery(query)
  const weights = new Map(terms.map((term) => [term, Math.max(0, idf(term))]))
  const pairs = new Set(terms.slice(1).map((term, i) => `${terms[i]} ${term}`))
  return { text: query, type: answerType(query), weights, total: weightOf(weights, weights.keys()), pairs }
}

function weightOf(weights: ReadonlyMap<string, number>, terms: Iterable<string>): number {
  let sum = 0
  for (const term of terms) sum += weights.get(term) ?? 0
  return sum
}

function candidatesOf(question: Question, passage: Quotable, evidenceIndex: number): Candidate[] {
  const titled = new Set<string>()
  forEachTerm(passage.title, (term) => {
    if (question.weights.has(term)) titled.add(term)
  })
  const pieces = piecesOf(passage.text, new Set(question.weights.keys()))
  const candidates: Candidate[] = []
  let previous = new Set<string>()
  for (const [order, { text, isRow }] of pieces.entries()) {
    const { held, adjacent, terms } = matchesOf(question, text)
    const share = (found: Iterable<string>): number => weightOf(question.weights, found) / (question.total || 1)
    const inTitle = [...titled].filter((term) => !held.has(term))
    const before = [...previous].filter((term) => !held.has(term))
    const score =
      share(held) +
      WEIGHTS.neighbour * share(before) +
      WEIGHTS.titled * share(inTitle) +
      WEIGHTS.adjacent * Math.min(1, adjacent / 2) +
      (holdsAnswerOf(question.type, text, question.text) ? WEIGHTS.typed : 0) +
      WEIGHTS.rank / (1 + evidenceIndex)
    const isScrap = terms < MIN_TERMS && pieces.length > 1 && !isRow
    const covered = share(held) + share(inTitle)
    if (!isScrap && covered > 0) candidates.push({ evidenceIndex, order, text, held, covered, score })
    // rows of a table do not speak of one another
    previous = isRow ? new Set() : held
  }
  return candidates
}

function matchesOf(question: Question, text: string): { held: Set<string>; adjacent: number; terms: number } {
  const held = new Set<string>()
  let adjacent = 0
  let terms = 0
  let previous = ''
  forEachTerm(text, (term) => {
    terms++
    if (question.weights.has(term)) held.add(term)
    if (question.pairs.has(`${previous} ${term}`)) adjacent++
    previous = term
  })
  return { held, adjacent, terms }
}

/** The best sentence, and those that add what it leaves open. */
function choose(question: Question, candidates: readonly Candidate[]): Candidate[] {
  const ordered = [...candidates].sort((a, b) => b.score - a.score || a.evidenceIndex - b.evidenceIndex)
  const [best] = ordered
  if (best === undefined) return []
  const chosen = [best]
  const held = new Set(best.held)
  for (const candidate of ordered.slice(1)) {
    if (chosen.length >= MAX_SENTENCES || candidate.score < NEAR_BEST * best.score) break
    if (candidate.covered < OWN_COVERAGE) continue
    const added = [...candidate.held].filter((term) => !held.has(term))
    if (weightOf(question.weights, added) < NEW_COVERAGE * question.total) continue
    chosen.push(candidate)
    for (const term of added) held.add(term)
  }
  return chosen
}
