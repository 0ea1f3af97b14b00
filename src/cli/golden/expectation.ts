import type { ExpectedAnswer } from '../../contract/gateway/golden-questions.js'
import { LIMITS } from '../../contract/limits.js'
import { EVIDENCE_STATES } from '../../contract/values.js'
import { defined } from '../../lib/defined.js'
import { isRecord, textOf } from '../../lib/json/values.js'
import { usageError } from '../cli-error.js'

/** A position in a document, identified by its text, so that it does not depend on the division into passages. */
export interface Anchor {
  /** Filename, or its end. */
  document: string
  /** Titles of the section, innermost last; outer titles may be omitted. */
  heading: string[]
  quote: string | undefined
}

/** The parsed `expect`: anchors in documents and the expected answer. */
export interface Expectation {
  anchors: Anchor[]
  answer: ExpectedAnswer | undefined
}

const ANSWER_KEYS = ['answer', 'not', 'state']

/**
 * Parses `expect`: a path, `{document, heading?, quote?, answer?, not?, state?}`, or a list of these.
 *
 * @param where location for messages
 * @throws CliError exit 2 with the entry and the rule
 */
export function readExpectation(value: unknown, where: string): Expectation {
  const found: Expectation = { anchors: [], answer: undefined }
  const list: unknown[] = value === undefined ? [] : Array.isArray(value) ? value : [value]
  for (const [index, entry] of list.entries()) {
    const at = `${where}: expect ${index + 1}`
    if (!isRecord(entry)) {
      found.anchors.push(readAnchor(entry, at))
      continue
    }
    const keys = Object.entries(entry)
    const answer = Object.fromEntries(keys.filter(([key]) => ANSWER_KEYS.includes(key)))
    const anchor = Object.fromEntries(keys.filter(([key]) => !ANSWER_KEYS.includes(key)))
    const hasAnswer = Object.keys(answer).length > 0
    if (!hasAnswer || Object.keys(anchor).length > 0) found.anchors.push(readAnchor(anchor, at))
    if (!hasAnswer) continue
    if (found.answer !== undefined) throw usageError(`${at} is a second expected answer: merge all texts into one`)
    found.answer = readAnswer(answer, at)
  }
  return found
}

function readAnchor(value: unknown, where: string): Anchor {
  if (typeof value === 'string' && value !== '') return { document: value, heading: [], quote: undefined }
  if (!isRecord(value)) throw usageError(`${where} must be a document's path, or an object with document or answer`)
  const stranger = Object.keys(value).find((key) => !['document', 'heading', 'quote'].includes(key))
  if (stranger !== undefined) throw usageError(`${where} has an unknown key ${JSON.stringify(stranger)}`)
  const document = textOf(value.document)
  if (document === undefined) throw usageError(`${where} must name a document`)
  if (value.quote !== undefined && textOf(value.quote) === undefined) throw usageError(`${where}: quote must be text`)
  const heading = typeof value.heading === 'string' ? [value.heading] : (value.heading ?? [])
  return { document, heading: readTexts(heading, `${where}: heading`), quote: textOf(value.quote) }
}

function readAnswer({ answer, not, state }: Record<string, unknown>, where: string): ExpectedAnswer {
  const known = EVIDENCE_STATES.find((one) => one === state)
  if (state !== undefined && known === undefined)
    throw usageError(`${where}: state must be one of ${EVIDENCE_STATES.join(', ')}`)
  const read = {
    answer: readAnswerTexts(answer, `${where}: answer`),
    not: readAnswerTexts(not, `${where}: not`),
    state: known,
  }
  if ((read.answer?.length ?? 0) + (read.not?.length ?? 0) === 0 && known === undefined)
    throw usageError(`${where} must contain a text or a state`)
  return defined(read)
}

function readAnswerTexts(value: unknown, where: string): string[] | undefined {
  if (value === undefined) return undefined
  const texts = readTexts(typeof value === 'string' ? [value] : value, where)
  if (texts.length > LIMITS.expectedTexts) throw usageError(`${where} has more than ${LIMITS.expectedTexts} texts`)
  for (const text of texts) {
    if (text.trim() === '') throw usageError(`${where} has a blank text`)
    if (text.length > LIMITS.expectedText)
      throw usageError(`${where} has a text of more than ${LIMITS.expectedText} characters`)
  }
  return texts
}

export function readTexts(value: unknown, where: string): string[] {
  if (!Array.isArray(value) || !value.every((entry) => typeof entry === 'string' && entry !== '')) {
    throw usageError(`${where} must be a list of texts`)
  }
  return value.map(String)
}

/** Formats an anchor for reports: `guide.md > Fees > "nine crowns"`. */
export function anchorText({ document, heading, quote }: Anchor): string {
  return [document, ...heading, ...(quote === undefined ? [] : [JSON.stringify(quote)])].join(' > ')
}
