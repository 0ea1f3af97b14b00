import type { ExpectedAnswer } from '../../contract/gateway/golden-questions.js'
import { isRecord, textOf } from '../../lib/json/values.js'
import { usageError } from '../cli-error.js'
import { type Anchor, readExpectation, readTexts } from './expectation.js'

/** A question with its expected evidence and answer. */
export interface GoldenCase {
  id: string
  question: string
  anchors: Anchor[]
  /** Passage ids; they change when the document is divided into passages again. */
  evidenceIds: string[]
  /** Undefined if any answer passes. */
  expect: ExpectedAnswer | undefined
  /** Whether the space has an answer; `undefined` if the file does not state it. */
  answerable: boolean | undefined
  tags: string[]
}

/** Known keys of a question, including those written by `ks golden export`. */
const KNOWN = new Set([
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
export function readCase(value: unknown, where: string): GoldenCase {
  if (!isRecord(value)) throw usageError(`${where} must be an object with a question`)
  const stranger = Object.keys(value).find((key) => !KNOWN.has(key))
  if (stranger !== undefined) throw usageError(`${where} has an unknown key ${JSON.stringify(stranger)}`)
  const question = textOf(value.question)
  if (question === undefined) throw usageError(`${where} must have a question`)
  const metadata = isRecord(value.metadata) ? value.metadata : {}
  const named = readExpectation(value.expect, where)
  const stored = readExpectation(metadata.expect, where)
  const anchors = named.anchors.length > 0 ? named.anchors : stored.anchors
  const expect = named.answer ?? stored.answer
  const evidenceIds = readTexts(value.expectedEvidenceIds ?? [], `${where}: expectedEvidenceIds`)
  const answerable = answerableOf(value.answerable ?? metadata.answerable, metadata, where)
  const labelled = anchors.length + evidenceIds.length > 0
  return {
    id: textOf(value.id) ?? question,
    question,
    anchors,
    evidenceIds,
    expect,
    answerable: answerable ?? impliedAnswerable(expect, labelled),
    tags: readTexts(value.tags ?? [], `${where}: tags`),
  }
}

/** A question with expected evidence or answer is answerable, unless its expected state denies that. */
function impliedAnswerable(expect: ExpectedAnswer | undefined, labelled: boolean): boolean | undefined {
  if (expect?.state !== undefined) return expect.state !== 'not-enough-evidence'
  return labelled || (expect?.answer?.length ?? 0) > 0 ? true : undefined
}

function answerableOf(value: unknown, metadata: Record<string, unknown>, where: string): boolean | undefined {
  if (typeof value === 'boolean') return value
  if (value !== undefined) throw usageError(`${where}: answerable must be true or false`)
  const { annotation } = metadata
  return isRecord(annotation) && annotation.answerCorrectness === 'not-answerable' ? false : undefined
}
