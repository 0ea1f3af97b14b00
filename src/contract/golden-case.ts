import { isRecord, toNonEmptyString } from '../lib/json/values.js'
import { omitUndefined } from '../lib/omit-undefined.js'
import { KsError } from './errors.js'
import type { ExpectedAnswer } from './gateway/golden-questions.js'
import type { EvidenceAnchor, GoldenCase } from './gateway/golden-runs.js'
import { LIMITS } from './limits.js'
import { EVIDENCE_STATES } from './values.js'

/*
 * The forms of a golden question in files, and of the expectation in the metadata of a stored one. Free of zod, so the
 * engine, the CLI and the console may load it.
 */

const createInvalid = (message: string): KsError => new KsError('invalid-request', message)

/** Known keys of a question, including those written by `ks golden --export`. */
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
 * @param location location of the entry, for messages
 * @throws KsError `invalid-request` with the location and the rule
 */
export function parseGoldenCase(value: unknown, location: string): GoldenCase {
  if (!isRecord(value)) throw createInvalid(`${location} must be an object with a question`)
  const unknownKey = Object.keys(value).find((key) => !KNOWN_CASE_KEYS.has(key))
  if (unknownKey !== undefined) throw createInvalid(`${location} has an unknown key ${JSON.stringify(unknownKey)}`)
  const question = toNonEmptyString(value.question)
  if (question === undefined) throw createInvalid(`${location} must have a question`)
  const metadata = isRecord(value.metadata) ? value.metadata : {}
  const expected = parseExpectation(value.expect, location)
  const stored = parseExpectation(metadata.expect, location)
  const anchors = expected.anchors.length > 0 ? expected.anchors : stored.anchors
  const expect = expected.answer ?? stored.answer
  const expectedEvidenceIds = parseTextList(value.expectedEvidenceIds ?? [], `${location}: expectedEvidenceIds`)
  const answerable = parseAnswerable(value.answerable ?? metadata.answerable, metadata, location)
  const isLabelled = anchors.length + expectedEvidenceIds.length > 0
  return {
    id: toNonEmptyString(value.id) ?? question,
    question,
    anchors,
    expectedEvidenceIds,
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
  if (value !== undefined) throw createInvalid(`${location}: answerable must be true or false`)
  const { annotation } = metadata
  return isRecord(annotation) && annotation.answerCorrectness === 'not-answerable' ? false : undefined
}

/** The parsed `expect`: anchors in documents and the expected answer. */
export interface GoldenExpectation {
  anchors: EvidenceAnchor[]
  answer: ExpectedAnswer | undefined
}

const ANSWER_KEYS = ['answer', 'not', 'state']

/**
 * Parses `expect`: a path, `{document, heading?, quote?, answer?, not?, state?}`, or a list of these.
 *
 * @param location location of the entry, for messages
 * @throws KsError `invalid-request` with the entry and the rule
 */
export function parseExpectation(value: unknown, location: string): GoldenExpectation {
  const expectation: GoldenExpectation = { anchors: [], answer: undefined }
  const list: unknown[] = value === undefined ? [] : Array.isArray(value) ? value : [value]
  for (const [index, entry] of list.entries()) {
    const entryLocation = `${location}: expect ${index + 1}`
    if (!isRecord(entry)) {
      expectation.anchors.push(parseAnchor(entry, entryLocation))
      continue
    }
    const keys = Object.entries(entry)
    const answer = Object.fromEntries(keys.filter(([key]) => ANSWER_KEYS.includes(key)))
    const anchor = Object.fromEntries(keys.filter(([key]) => !ANSWER_KEYS.includes(key)))
    const hasAnswer = Object.keys(answer).length > 0
    if (!hasAnswer || Object.keys(anchor).length > 0) expectation.anchors.push(parseAnchor(anchor, entryLocation))
    if (!hasAnswer) continue
    if (expectation.answer !== undefined)
      throw createInvalid(`${entryLocation} is a second expected answer: merge all texts into one`)
    expectation.answer = parseExpectedAnswer(answer, entryLocation)
  }
  return expectation
}

function parseAnchor(value: unknown, location: string): EvidenceAnchor {
  if (typeof value === 'string' && value !== '') return { document: value, heading: [], quote: undefined }
  if (!isRecord(value))
    throw createInvalid(`${location} must be a document's path, or an object with document or answer`)
  const unknownKey = Object.keys(value).find((key) => !['document', 'heading', 'quote'].includes(key))
  if (unknownKey !== undefined) throw createInvalid(`${location} has an unknown key ${JSON.stringify(unknownKey)}`)
  const document = toNonEmptyString(value.document)
  if (document === undefined) throw createInvalid(`${location} must name a document`)
  if (value.quote !== undefined && toNonEmptyString(value.quote) === undefined)
    throw createInvalid(`${location}: quote must be text`)
  const heading = typeof value.heading === 'string' ? [value.heading] : (value.heading ?? [])
  return { document, heading: parseTextList(heading, `${location}: heading`), quote: toNonEmptyString(value.quote) }
}

function parseExpectedAnswer({ answer, not, state }: Record<string, unknown>, location: string): ExpectedAnswer {
  const evidenceState = EVIDENCE_STATES.find((name) => name === state)
  if (state !== undefined && evidenceState === undefined)
    throw createInvalid(`${location}: state must be one of ${EVIDENCE_STATES.join(', ')}`)
  const parsed = {
    answer: parseAnswerTexts(answer, `${location}: answer`),
    not: parseAnswerTexts(not, `${location}: not`),
    state: evidenceState,
  }
  if ((parsed.answer?.length ?? 0) + (parsed.not?.length ?? 0) === 0 && evidenceState === undefined)
    throw createInvalid(`${location} must contain a text or a state`)
  return omitUndefined(parsed)
}

function parseAnswerTexts(value: unknown, location: string): string[] | undefined {
  if (value === undefined) return undefined
  const texts = parseTextList(typeof value === 'string' ? [value] : value, location)
  if (texts.length > LIMITS.expectedTexts)
    throw createInvalid(`${location} has more than ${LIMITS.expectedTexts} texts`)
  for (const text of texts) {
    if (text.trim() === '') throw createInvalid(`${location} has a blank text`)
    if (text.length > LIMITS.expectedText)
      throw createInvalid(`${location} has a text of more than ${LIMITS.expectedText} characters`)
  }
  return texts
}

function parseTextList(value: unknown, location: string): string[] {
  if (!Array.isArray(value) || !value.every((entry) => typeof entry === 'string' && entry !== '')) {
    throw createInvalid(`${location} must be a list of texts`)
  }
  return value.map(String)
}
