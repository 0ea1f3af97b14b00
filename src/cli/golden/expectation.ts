import type { ExpectedAnswer } from '../../contract/gateway/golden-questions.js'
import { LIMITS } from '../../contract/limits.js'
import { EVIDENCE_STATES } from '../../contract/values.js'
import { isRecord, toNonEmptyString } from '../../lib/json/values.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { usageError } from '../cli-error.js'

/** A position in a document, identified by its text, so that it does not depend on the division into passages. */
export interface EvidenceAnchor {
  /** Filename, or its end. */
  document: string
  /** Titles of the section, innermost last; outer titles may be omitted. */
  heading: string[]
  quote: string | undefined
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
 * @param where location for messages
 * @throws CliError exit 2 with the entry and the rule
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
      throw usageError(`${entryLocation} is a second expected answer: merge all texts into one`)
    expectation.answer = parseExpectedAnswer(answer, entryLocation)
  }
  return expectation
}

function parseAnchor(value: unknown, location: string): EvidenceAnchor {
  if (typeof value === 'string' && value !== '') return { document: value, heading: [], quote: undefined }
  if (!isRecord(value)) throw usageError(`${location} must be a document's path, or an object with document or answer`)
  const unknownKey = Object.keys(value).find((key) => !['document', 'heading', 'quote'].includes(key))
  if (unknownKey !== undefined) throw usageError(`${location} has an unknown key ${JSON.stringify(unknownKey)}`)
  const document = toNonEmptyString(value.document)
  if (document === undefined) throw usageError(`${location} must name a document`)
  if (value.quote !== undefined && toNonEmptyString(value.quote) === undefined)
    throw usageError(`${location}: quote must be text`)
  const heading = typeof value.heading === 'string' ? [value.heading] : (value.heading ?? [])
  return { document, heading: parseTextList(heading, `${location}: heading`), quote: toNonEmptyString(value.quote) }
}

function parseExpectedAnswer({ answer, not, state }: Record<string, unknown>, location: string): ExpectedAnswer {
  const evidenceState = EVIDENCE_STATES.find((name) => name === state)
  if (state !== undefined && evidenceState === undefined)
    throw usageError(`${location}: state must be one of ${EVIDENCE_STATES.join(', ')}`)
  const parsed = {
    answer: parseAnswerTexts(answer, `${location}: answer`),
    not: parseAnswerTexts(not, `${location}: not`),
    state: evidenceState,
  }
  if ((parsed.answer?.length ?? 0) + (parsed.not?.length ?? 0) === 0 && evidenceState === undefined)
    throw usageError(`${location} must contain a text or a state`)
  return omitUndefined(parsed)
}

function parseAnswerTexts(value: unknown, location: string): string[] | undefined {
  if (value === undefined) return undefined
  const texts = parseTextList(typeof value === 'string' ? [value] : value, location)
  if (texts.length > LIMITS.expectedTexts) throw usageError(`${location} has more than ${LIMITS.expectedTexts} texts`)
  for (const text of texts) {
    if (text.trim() === '') throw usageError(`${location} has a blank text`)
    if (text.length > LIMITS.expectedText)
      throw usageError(`${location} has a text of more than ${LIMITS.expectedText} characters`)
  }
  return texts
}

export function parseTextList(value: unknown, location: string): string[] {
  if (!Array.isArray(value) || !value.every((entry) => typeof entry === 'string' && entry !== '')) {
    throw usageError(`${location} must be a list of texts`)
  }
  return value.map(String)
}

/** Formats an anchor for reports: `guide.md > Fees > "nine crowns"`. */
export function formatAnchor({ document, heading, quote }: EvidenceAnchor): string {
  return [document, ...heading, ...(quote === undefined ? [] : [JSON.stringify(quote)])].join(' > ')
}
