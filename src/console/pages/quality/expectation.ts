import type { ExpectedAnswer, GoldenQuestion } from '../../../contract/gateway/golden-questions.js'
import type { AnswerTrace, EvidenceItem } from '../../../contract/gateway/queries.js'
import { isRecord } from '../../api/session.js'

/** Location in a document, identified by its text; same form as in `ks golden run`. */
export interface AnswerAnchor {
  document: string
  heading: readonly string[]
  quote: string | undefined
}

/** What the answer to a golden question must be based on. */
export interface QuestionExpectation {
  anchors: readonly AnswerAnchor[]
  evidenceIds: readonly string[]
  /** id of the golden question; traces record comparisons by it */
  questionId: string
  /** any answer passes if absent */
  answer: ExpectedAnswer | undefined
  /** whether the space contains an answer; absent if not specified */
  answerable: boolean | undefined
}

export function toExpectation({
  id,
  metadata,
  expectedEvidenceIds,
  expect: answer,
}: GoldenQuestion): QuestionExpectation {
  const { expect, annotation } = metadata
  const anchors = (Array.isArray(expect) ? expect : expect === undefined ? [] : [expect]).flatMap(parseAnchor)
  const hasAnswer = anchors.length + expectedEvidenceIds.length + (answer?.answer?.length ?? 0) > 0
  const implied = answer?.state === undefined ? hasAnswer || undefined : answer.state !== 'not-enough-evidence'
  const declared = typeof metadata.answerable === 'boolean' ? metadata.answerable : undefined
  const judged = isRecord(annotation) && annotation.answerCorrectness === 'not-answerable' ? false : undefined
  const answerable = declared ?? judged ?? implied
  return { anchors, evidenceIds: expectedEvidenceIds, questionId: id, answer, answerable }
}

function parseAnchor(value: unknown): AnswerAnchor[] {
  if (typeof value === 'string') return [{ document: value, heading: [], quote: undefined }]
  if (!isRecord(value) || typeof value.document !== 'string') return []
  const heading =
    typeof value.heading === 'string' ? [value.heading] : Array.isArray(value.heading) ? value.heading : []
  return [
    {
      document: value.document,
      heading: heading.map(String),
      quote: typeof value.quote === 'string' ? value.quote : undefined,
    },
  ]
}

/** The comparison of an answer with the expected one, as the query's trace records it. */
export interface ComparedAnswer {
  isRight: boolean
  /** `not in the answer: “four weeks”` */
  faults: readonly string[]
}

export type QuestionOutcome = 'passed' | 'partly' | 'failed'

/** The result of one query of a golden question. */
export interface QuestionResult {
  traceId: string
  outcome: QuestionOutcome
  /** Fraction of the expected locations that the evidence contains; undefined if none is expected. */
  recall: number | undefined
  answered: boolean
  /** undefined if no answer is expected, or was expected when the query ran */
  answer: ComparedAnswer | undefined
  items: readonly EvidenceItem[]
}

export function evaluateTrace(trace: AnswerTrace, expected: QuestionExpectation): QuestionResult {
  const { anchors, evidenceIds, answerable } = expected
  const items = evidenceItemsOf(trace)
  const answered = trace.steps.some(({ metadata }) => metadata.finishReason === 'retrieval-evidence')
  const isFound = [
    ...anchors.map((anchor) => items.some((item) => matchesAnchor(item, anchor))),
    ...evidenceIds.map((id) => items.some(({ nodeId }) => nodeId === id)),
  ]
  const recall = isFound.length === 0 ? undefined : isFound.filter(Boolean).length / isFound.length
  const answer = expected.answer === undefined ? undefined : readComparison(trace, expected.questionId)
  const outcome = answer?.isRight === false ? 'failed' : computeOutcome(recall, answered, answerable)
  return { traceId: trace.id, outcome, recall, answered, answer, items }
}

function computeOutcome(
  recall: number | undefined,
  answered: boolean,
  answerable: boolean | undefined,
): QuestionOutcome {
  if (answerable === false) return answered ? 'failed' : 'passed'
  if (recall === undefined || recall === 1) return answered ? 'passed' : recall === undefined ? 'failed' : 'partly'
  return recall === 0 ? 'failed' : 'partly'
}

function readComparison({ steps }: AnswerTrace, questionId: string): ComparedAnswer | undefined {
  const step = steps.find(({ name, metadata }) => name === 'query.golden' && metadata.goldenQuestionId === questionId)
  if (step === undefined) return undefined
  const { right, missing, forbidden, wrongState } = step.metadata
  const texts = (value: unknown) => (Array.isArray(value) ? value.map(String) : [])
  return {
    isRight: right === true,
    faults: [
      ...texts(missing).map((text) => `not in the answer: “${text}”`),
      ...texts(forbidden).map((text) => `in the answer: “${text}”`),
      ...(isRecord(wrongState) ? [`state ${wrongState.actual}, expected ${wrongState.expected}`] : []),
    ],
  }
}

/** The evidence that a trace contains. */
export function evidenceItemsOf({ steps }: AnswerTrace): readonly EvidenceItem[] {
  for (const { metadata } of steps) {
    const { evidenceBundle } = metadata
    // metadata of a step holds a bundle that follows the contract
    if (isRecord(evidenceBundle) && Array.isArray(evidenceBundle.items)) return evidenceBundle.items as EvidenceItem[]
  }
  return []
}

export function filenameOf({ metadata }: Pick<EvidenceItem, 'metadata'>): string {
  return typeof metadata.filename === 'string' ? metadata.filename : ''
}

function matchesAnchor(item: EvidenceItem, { document, heading, quote }: AnswerAnchor): boolean {
  const filename = filenameOf(item)
  if (filename !== document && !filename.endsWith(`/${document}`)) return false
  const path = item.citations[0]?.sectionPath.map(normalizeTitle) ?? []
  // a passage in a subsection of the expected section matches, too
  const headings = heading.map(normalizeTitle)
  const isUnder =
    headings.length === 0 || path.some((_, start) => headings.every((title, index) => path[start + index] === title))
  if (!isUnder) return false
  if (quote === undefined) return true
  const text = keepLetters(item.text)
  const quoteLetters = keepLetters(quote)
  return text.includes(quoteLetters) || quoteLetters.includes(text)
}

const normalizeTitle = (title: string) =>
  title
    .toLowerCase()
    .replace(/^[\d.\s]+/, '')
    .trim()
const keepLetters = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '')
