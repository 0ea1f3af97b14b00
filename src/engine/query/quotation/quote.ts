import type { EvidenceItem } from '../../../contract/gateway/queries.js'
import { analyzeContent } from '../../../lib/text/analyze.js'
import type { Rewording } from '../../../lib/text/compounds.js'
import { answerType } from '../answer-type.js'
import { holdsAnswerOf } from '../extractive/answer-signs.js'
import type { FollowUp } from '../follow-up.js'
import { sentenceTerms } from '../sentence-terms.js'
import { type Candidate, candidatesOf, FEATURES, type QuotablePassage } from './candidates.js'
import { quotationFeatures, scoreCandidates, selectUnits } from './choose.js'
import { orderedModel, probabilityOf } from './linear-model.js'
import { ANSWER_FEATURES, answerValues } from './model.js'
import { prepareQuestion, type Question } from './question.js'
import { ANSWER_WEIGHTS, UNIT_WEIGHTS } from './weights.js'

const UNIT_MODEL = orderedModel(FEATURES, UNIT_WEIGHTS)
const ANSWER_MODEL = orderedModel(ANSWER_FEATURES, ANSWER_WEIGHTS)

/** Complete blocks of the evidence that probably answer a question. */
export interface Quotation {
  question: Question
  /** one to three, by passage and in reading order */
  units: Candidate[]
  /** probability that they contain the answer, 0 to 1 */
  probability: number
}

/** A question with its evidence. */
export interface QuotationRequest {
  query: string
  /** best first */
  passages: readonly QuotablePassage[]
  /** inverse document frequency of a term */
  idf: (term: string) => number
  rewordings?: readonly Rewording[] | undefined
  /** absent: the question is complete */
  followUp?: FollowUp | undefined
}

/** An item of evidence as a passage to quote from. */
export function toQuotable({ text, score, metadata }: EvidenceItem): QuotablePassage {
  return { text, score, title: String(metadata.title ?? ''), source: String(metadata.filename ?? '') }
}

/** Passages of a lower rank are not quoted. */
export const MAX_PASSAGES = 6
/** Types of answers that restrict nothing: a follow-up without terms of its own, `and what?`, has no quotation. */
const OPEN_TYPES: ReadonlySet<string> = new Set(['any', 'definition', 'name', 'truth'])

/**
 * Chooses the blocks that answer a question. A follow-up takes them from passages about the question that it continues;
 * one without terms of its own (`and when?`) asks for another type of answer to that question.
 *
 * @returns undefined if there is nothing to quote
 */
export function quote({ followUp, ...request }: QuotationRequest): Quotation | undefined {
  const { query, idf, rewordings } = request
  const passages = request.passages.slice(0, MAX_PASSAGES)
  if (followUp === undefined) return quoteFrom(prepareQuestion(query, idf, rewordings), passages)
  const { anchor, ownTerms, isShort } = followUp
  const type = answerType(query)
  if (ownTerms.length === 0) {
    if (OPEN_TYPES.has(type)) return undefined
    const isOfType = ({ unit }: Candidate): boolean => holdsAnswerOf(type, unit.text, anchor)
    return quoteFrom({ ...prepareQuestion(anchor, idf, rewordings), type }, passages, isOfType)
  }
  const anchorTerms = new Set(analyzeContent(anchor))
  const related = passages.map(({ title, text }) => containsAny(anchorTerms, `${title}\n${text}`))
  const own = new Set(ownTerms)
  return quoteFrom(prepareQuestion(query, idf, rewordings), passages, ({ passage, unit }) => {
    const { title = '' } = passages[passage] ?? {}
    if (!containsAny(own, `${title}\n${unit.heading}\n${unit.lead}\n${unit.text}`)) return false
    return related[passage] === true || (!related.includes(true) && !isShort)
  })
}

function quoteFrom(
  question: Question,
  passages: readonly QuotablePassage[],
  isWanted: (candidate: Candidate) => boolean = () => true,
): Quotation | undefined {
  const scored = scoreCandidates(UNIT_MODEL, candidatesOf(question, passages).filter(isWanted))
  const units = selectUnits(scored)
  const features = quotationFeatures(question, passages, scored, units)
  if (features === undefined) return undefined
  const probability = probabilityOf(ANSWER_MODEL, answerValues(features))
  return {
    question,
    units: units.sort((a, b) => a.passage - b.passage || a.unit.start - b.unit.start),
    probability,
  }
}

function containsAny(terms: ReadonlySet<string>, text: string): boolean {
  return sentenceTerms(text).some((term) => terms.has(term))
}
