import type { EvidenceItem, TermCorrection } from '../../../../contract/gateway/queries.js'
import { analyzeContent, analyzeQuery } from '../../../../lib/text/analyze.js'
import type { Rewording } from '../../../../lib/text/compounds.js'
import { sentenceTerms } from '../../../../lib/text/sentence-terms.js'
import type { FollowUp } from '../follow-up.js'
import { answerType, hasAnswerSign } from '../question/answer-type.js'
import { buildCandidates, FEATURES, type QuotablePassage, type QuotationCandidate } from './candidates.js'
import {
  ANSWER_FEATURES,
  computeProbability,
  computeQuotationFeatures,
  type ScoredCandidate,
  scoreCandidates,
  selectUnits,
  toAnswerValues,
  toOrderedModel,
} from './choose.js'
import { computeWeightFraction, type PreparedQuestion, prepareQuestion } from './question.js'
import { ANSWER_WEIGHTS, UNIT_WEIGHTS } from './weights.js'

const UNIT_MODEL = toOrderedModel(FEATURES, UNIT_WEIGHTS)
const ANSWER_MODEL = toOrderedModel(ANSWER_FEATURES, ANSWER_WEIGHTS)
/** Penalty of the probability, times the fraction of corrected words in the question: a different word may be meant. */
const CORRECTION_PENALTY = 0.5

/** Complete blocks of the evidence that probably answer a question. */
export interface Quotation {
  question: PreparedQuestion
  /** one to three, plus one of each further version; by passage and in reading order */
  units: QuotationCandidate[]
  /** passages that state one fact at different times, the requested one first; empty if no unit belongs to one */
  versions: readonly PassageVersion[]
  /** probability that they contain the answer, 0 to 1 */
  probability: number
}

/** A passage that states a fact as of its time. */
export interface PassageVersion {
  /** index of the passage */
  passage: number
  /** its time relative to that of the first version */
  relation?: 'older' | 'newer' | undefined
}

/** A question with its evidence. */
export interface QuotationRequest {
  query: string
  /** best first */
  passages: readonly QuotablePassage[]
  /** inverse document frequency of a term */
  idf: (term: string) => number
  rewordings?: readonly Rewording[] | undefined
  /** words of the question that no passage contains, with the other forms that were searched for */
  searchedFor?: readonly TermCorrection[]
  /** absent: the question is complete */
  followUp?: FollowUp | undefined
  /** passages that state one fact at different times, the requested one first */
  versions?: readonly PassageVersion[] | undefined
}

/** Converts an item of evidence to a passage to quote from. */
export function toQuotable({ text, score, metadata }: EvidenceItem): QuotablePassage {
  return { text, score, title: String(metadata.title ?? ''), source: String(metadata.filename ?? '') }
}

/** Passages with a lower rank are not quoted. */
export const MAX_PASSAGES = 6
/** Answer types that restrict nothing: a follow-up without terms of its own, `and what?`, has no quotation. */
const OPEN_TYPES: ReadonlySet<string> = new Set(['any', 'definition', 'name', 'truth'])

/**
 * Chooses the blocks that answer a question. For a follow-up they come from passages about the question that it
 * continues; one without its own terms (`and when?`) asks for another type of answer to that question.
 *
 * @returns undefined if there is nothing to quote
 */
export function chooseQuotation({ versions = [], ...request }: QuotationRequest): Quotation | undefined {
  const chosen = getChosenUnits(request)
  if (chosen === undefined) return undefined
  const { scored, units, ...rest } = chosen
  const isOfVersion = ({ passage }: QuotationCandidate): boolean =>
    versions.some((version) => version.passage === passage)
  if (!units.some(isOfVersion)) return { ...rest, units: [...units].sort(compareByPosition), versions: [] }
  const missing = versions.flatMap(({ passage }) => {
    if (units.some((unit) => unit.passage === passage)) return []
    return scored.find(({ candidate }) => candidate.passage === passage)?.candidate ?? []
  })
  const versionUnits = versions.flatMap(({ passage }) =>
    [...units, ...missing].filter((unit) => unit.passage === passage).sort(compareByPosition),
  )
  const others = units.filter((unit) => !isOfVersion(unit)).sort(compareByPosition)
  return { ...rest, units: [...versionUnits, ...others], versions }
}

function compareByPosition(a: QuotationCandidate, b: QuotationCandidate): number {
  return a.passage - b.passage || a.unit.start - b.unit.start
}

type QuotationChoice = Omit<Quotation, 'versions'> & { scored: readonly ScoredCandidate[] }

/**
 * The last quotation of each search, by its `idf`: judging the evidence and writing the answer request the same one.
 */
const lastChoices = new WeakMap<
  QuotationRequest['idf'],
  { request: QuotationRequest; chosen: QuotationChoice | undefined }
>()

function getChosenUnits(request: QuotationRequest): QuotationChoice | undefined {
  const cached = lastChoices.get(request.idf)
  if (cached !== undefined && isSameRequest(cached.request, request)) return cached.chosen
  const chosen = chooseUnits(request)
  lastChoices.set(request.idf, { request, chosen })
  return chosen
}

function isSameRequest(one: QuotationRequest, other: QuotationRequest): boolean {
  if (one.query !== other.query || one.rewordings !== other.rewordings || one.searchedFor !== other.searchedFor)
    return false
  if (one.followUp !== undefined || other.followUp !== undefined) return false
  const [quoted, others] = [one, other].map(({ passages }) => passages.slice(0, MAX_PASSAGES))
  return (
    quoted?.length === others?.length &&
    quoted?.every(({ text, title, source, score }, index) => {
      const passage = others?.[index]
      return passage?.text === text && passage.title === title && passage.source === source && passage.score === score
    }) === true
  )
}

function chooseUnits(request: QuotationRequest): QuotationChoice | undefined {
  const chosen = chooseUnitsOfQuestion(request)
  if (chosen === undefined) return undefined
  const { question } = chosen
  const corrected = (request.searchedFor ?? []).flatMap(({ asked }) => analyzeQuery(asked))
  return {
    ...chosen,
    probability: chosen.probability * (1 - CORRECTION_PENALTY * computeWeightFraction(question, new Set(corrected))),
  }
}

function chooseUnitsOfQuestion({ followUp, ...request }: QuotationRequest): QuotationChoice | undefined {
  const { query, idf, rewordings } = request
  const passages = request.passages.slice(0, MAX_PASSAGES)
  if (followUp === undefined) return buildQuotation(prepareQuestion(query, idf, rewordings), passages)
  const { anchor, ownTerms, isShort } = followUp
  // `matched` lists terms of the searched query; a follow-up is compared by its own terms.
  const compared = passages.map(({ matched, ...passage }): QuotablePassage => passage)
  const type = answerType(query)
  if (ownTerms.length === 0) {
    if (OPEN_TYPES.has(type)) return undefined
    const isOfType = ({ unit }: QuotationCandidate): boolean => hasAnswerSign(type, unit.text, anchor)
    return buildQuotation({ ...prepareQuestion(anchor, idf, rewordings), type }, compared, isOfType)
  }
  const anchorTerms = new Set(analyzeContent(anchor))
  const related = passages.map(({ title, text }) => containsAny(anchorTerms, `${title}\n${text}`))
  const own = new Set(ownTerms)
  return buildQuotation(prepareQuestion(query, idf, rewordings), compared, ({ passage, unit }) => {
    const { title = '' } = passages[passage] ?? {}
    if (!containsAny(own, `${title}\n${unit.heading}\n${unit.lead}\n${unit.text}`)) return false
    return related[passage] === true || (!related.includes(true) && !isShort)
  })
}

function buildQuotation(
  question: PreparedQuestion,
  passages: readonly QuotablePassage[],
  isWanted: (candidate: QuotationCandidate) => boolean = () => true,
): QuotationChoice | undefined {
  const scored = scoreCandidates(UNIT_MODEL, buildCandidates(question, passages).filter(isWanted))
  const units = selectUnits(scored)
  const features = computeQuotationFeatures(question, passages, scored, units)
  if (features === undefined) return undefined
  const probability = computeProbability(ANSWER_MODEL, toAnswerValues(features))
  return { question, units, probability, scored }
}

function containsAny(terms: ReadonlySet<string>, text: string): boolean {
  return sentenceTerms(text).some((term) => terms.has(term))
}
