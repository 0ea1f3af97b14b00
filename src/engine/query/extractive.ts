import { analyzeContent, forEachTerm } from '../../lib/text/analyze.js'
import type { Rewording } from '../../lib/text/compounds.js'
import { answerType } from './answer-type.js'
import { holdsAnswerOf } from './extractive/answer-signs.js'
import { type Candidate, candidatesOf, prepare, type Question, type Quotable } from './extractive/candidates.js'
import { choose } from './extractive/choose.js'
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
/** Headings and scraps of fewer terms are not answers, unless there is nothing else. */
const MIN_TERMS = 3

/** Evidence in rank order; `idf` weighs terms. */
interface Asked {
  query: string
  evidence: readonly Quotable[]
  idf: (term: string) => number
  /** what stands for terms of the query in the space */
  rewordings?: readonly Rewording[]
}

/**
 * Answers with the evidence's own words: the one to three sentences that hold most of the question and the kind of
 * thing it asks for, each cited by the place of its passage. Empty where no sentence holds a word of the question.
 */
export function extractiveAnswer({ query, evidence, idf, rewordings }: Asked): ExtractiveAnswer {
  return answerOf(prepare(query, idf, rewordings), evidence)
}

/**
 * Answers a question that goes on from another. Its own words choose the sentences, in passages that speak of what it
 * goes on from; one without any of its own (`and when?`) asks for a thing of another kind that the same words lead to.
 * Empty where it adds nothing, or nothing found says more on it.
 */
export function extractiveFollowUp({ query, evidence, idf }: Asked, { anchor, ownTerms, isShort }: FollowUp) {
  const type = answerType(query)
  if (ownTerms.length === 0) {
    if (UNTOLD.has(type)) return EMPTY
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

/** Kinds of answer that a question without words of its own does not tell: `and what?` */
const UNTOLD: ReadonlySet<string> = new Set(['any', 'definition', 'name', 'truth'])

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
