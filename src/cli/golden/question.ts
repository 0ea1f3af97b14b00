import type { ExpectedAnswer } from '../../contract/gateway/golden-questions.js'
import { isRecord, toNonEmptyString } from '../../lib/json/values.js'
import { usageError } from '../cli-error.js'
import { type EvidenceAnchor, parseExpectation, parseTextList } from './expectation.js'

/** A question with its expected evidence and answer. */
export interface GoldenRunCase {
  id: string
  question: string
  anchors: EvidenceAnchor[]
  /** Passage ids; they change when the document is divided into passages again. */
  evidenceIds: string[]
  /** Undefined if any answer passes. */
  expect: ExpectedAnswer | undefined
  /** Whether the space has an answer; `undefined` if the file does not state it. */
  answerable: boolean | undefined
  tags: string[]
}

/** Known keys of a question, including those written by `ks golden export`. */
const KNOWN_CASE_KEYS = new Set([
  'id',
  'question',
  'expect',
  'answerable',
  'tags',
  'expectedEvidenceIds',
  'metadata',
  'knowledgeSpaceId',
  'createdAt',
  'updatedAt',
])

/**
 * Parses one question of a file: `{question, expect?, answerable?, tags?, id?}`.
 *
 * @param where location of the entry, for messages
 * @throws CliError exit 2 with the location and the rule
 */
export function parseGoldenCase(value: unknown, location: string): GoldenRunCase {
  if (!isRecord(value)) throw usageError(`${location} must be an object with a question`)
  const unknownKey = Object.keys(value).find((key) => !KNOWN_CASE_KEYS.has(key))
  if (unknownKey !== undefined) throw usageError(`${location} has an unknown key ${JSON.stringify(unknownKey)}`)
  const question = toNonEmptyString(value.question)
  if (question === undefined) throw usageError(`${location} must have a question`)
  const metadata = isRecord(value.metadata) ? value.metadata : {}
  const expected = parseExpectation(value.expect, location)
  const stored = parseExpectation(metadata.expect, location)
  const anchors = expected.anchors.length > 0 ? expected.anchors : stored.anchors
  const expect = expected.answer ?? stored.answer
  const evidenceIds = parseTextList(value.expectedEvidenceIds ?? [], `${location}: expectedEvidenceIds`)
  const answerable = parseAnswerable(value.answerable ?? metadata.answerable, metadata, location)
  const isLabelled = anchors.length + evidenceIds.length > 0
  return {
    id: toNonEmptyString(value.id) ?? question,
    question,
    anchors,
    evidenceIds,
    expect,
    answerable: answerable ?? inferAnswerable(expect, isLabelled),
    tags: parseTextList(value.tags ?? [], `${location}: tags`),
  }
}

/** A question with expected evidence or answer is answerable, unless its expected state denies that. */
function inferAnswerable(expect: ExpectedAnswer | undefined, isLabelled: boolean): boolean | undefined {
  if (expect?.state !== undefined) return expect.state !== 'not-enough-evidence'
  return isLabelled || (expect?.answer?.length ?? 0) > 0 ? true : undefined
}

function parseAnswerable(value: unknown, metadata: Record<string, unknown>, location: string): boolean | undefined {
  if (typeof value === 'boolean') return value
  if (value !== undefined) throw usageError(`${location}: answerable must be true or false`)
  const { annotation } = metadata
  return isRecord(annotation) && annotation.answerCorrectness === 'not-answerable' ? false : undefined
}
