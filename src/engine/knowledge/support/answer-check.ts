import { splitSentences } from '../../../lib/text/sentences.js'
import { createCitationWriter } from './citation-marks.js'
import {
  type AnswerStatement,
  addsToQuestion,
  type EvidenceSource,
  findMarkNumbers,
  parseStatement,
  removeMarks,
  supports,
} from './support.js'

/** Reply that the prompt asks for when no source answers. */
export const DECLINE = 'The sources do not answer the question.'
/** A text with more statements is not a decline. */
const MAX_DECLINE_STATEMENTS = 3

/** `So it is. [1] And so.`: the mark belongs to the sentence before it. */
const STOP_BEFORE_MARKS = /([.!?。！？…][*_~]*)((?:\s?\[\d{1,3}\])+)/gu
/** Emphasis around a sentence, which is read as quotes. */
const EMPHASIS_OF_SENTENCE = /(?<=\s)[*_~]+(?=[\p{Lu}\p{Lt}\p{Lo}\p{N}])|(?<=[.!?…])[*_~]+(?=\s)/gu
const FENCED = /```[\s\S]*?(?:```|$)/g
/** A line that introduces others. Text after a heading in the same unit is checked with it. */
const HEADING = /^\s*#[^\n]*$/u
/** Introduces what follows; it is a claim when it has its own numbers or dates. */
const LEAD_IN = /[:：]\s*$/u
const ROW = /^\s*\|/

/** Question and sources of a model's answer. */
export interface CheckRequest {
  question: string
  /** by the number of the mark */
  sources: ReadonlyMap<number, EvidenceSource>
  /** input without a citation number: earlier turns, instructions */
  context?: readonly string[]
  /** answer without a model; when it is sure, nothing is sent before one statement agrees with it */
  quotation?: { text: string; isSure: boolean }
  /** the answer may be based on images or on the message: nothing is removed */
  isUnchecked?: boolean
}

export interface CheckResult {
  /** numbers of the sources that support the remaining answer */
  cited: number[]
  /** a statement that was sent is also supported by the quotation */
  agrees: boolean
  /** statements that were removed */
  dropped: number
  /** no statement remains, and the answer is short and claims nothing: a decline or small talk */
  isDeclined: boolean
  /** the complete answer, without marks */
  text: string
}

interface AnswerUnit {
  /** white space before it */
  gap: string
  text: string
  /** its sources support it */
  isSupported?: true
}

/**
 * Checks a streamed answer statement by statement. Each statement is buffered until it is complete, and passed on only
 * when its sources support it. A statement that cites nothing, or the wrong source, gets the mark of the source that
 * supports it. Headings, lead-ins and statements that add nothing to the question are passed on with the next supported
 * statement.
 */
export function createAnswerChecker(request: CheckRequest) {
  const question = { text: request.question, names: '' }
  const decline = parseStatement(DECLINE, question)
  const context = (request.context ?? []).map((text): EvidenceSource => ({ text, names: '' }))
  const cited = new Set<number>()
  let buffer = ''
  let received = ''
  let pending: AnswerUnit[] = []
  let removedGap = ''
  let isFirst = true
  let wasRow = false
  let isIntroRemoved = false
  let statements = 0
  let dropped = 0
  let hasClaims = false
  let isSentence = false
  const quotation = { text: request.quotation?.text ?? '', names: '' }
  const mayDisagree = request.isUnchecked === true || request.quotation?.isSure !== true
  let agrees = request.quotation === undefined

  const passOn = (unit: AnswerUnit): string => {
    const units = [...pending, unit]
    pending = []
    isIntroRemoved = false
    const text = units.map((one) => one.gap + one.text).join('')
    const out = isFirst ? text.trimStart() : text
    isFirst = false
    return out
  }

  const holdBack = (unit: AnswerUnit): void => {
    // unsupported units introduced the removed statement
    if (isIntroRemoved) pending = pending.filter(({ isSupported }) => isSupported)
    isIntroRemoved = false
    pending.push(unit)
  }

  const checkUnit = ({ gap, text }: AnswerUnit): string => {
    const unit = { gap: !gap.includes('\n') && removedGap.includes('\n') ? removedGap : gap, text }
    const isHeader = isTableHeader(text) && !wasRow
    wasRow = ROW.test(text)
    const hasContent = /[\p{L}\p{N}]/u.test(removeMarks(text))
    const statement = parseStatement(text, question)
    const isLead = LEAD_IN.test(removeMarks(text)) && statement.ownClaims === 0
    if (!hasContent || isLead || isHeader || HEADING.test(removeMarks(text))) {
      holdBack(unit)
      return ''
    }
    if (request.isUnchecked) {
      for (const number of findMarkNumbers(text)) cited.add(number)
      return passOn(unit)
    }
    statements++
    const supporting = isDecline(statement, decline)
      ? undefined
      : findSupportingSources(statement, text, request, context)
    if (supporting !== undefined && supporting.length > 0) {
      for (const number of supporting) cited.add(number)
      removedGap = ''
      const checked: AnswerUnit = { ...unit, text: replaceMarks(text, supporting), isSupported: true }
      agrees ||= supports([quotation], statement, { question: request.question, all: [...request.sources.values()] })
      if (agrees || mayDisagree) return passOn(checked)
      holdBack(checked)
      return ''
    }
    isSentence ||= addsToQuestion(statement) && isPhrase(statement)
    if (supporting !== undefined) {
      holdBack({ ...unit, text: removeMarks(text) })
      return ''
    }
    dropped++
    hasClaims ||= statement.ownClaims + statement.ownNames > 0
    removedGap = unit.gap.includes('\n') ? unit.gap : ''
    isIntroRemoved = true
    return ''
  }

  const flush = (isEnd: boolean): string => {
    const units = splitAnswerUnits(buffer)
    const complete = isEnd ? units : units.slice(0, -1)
    const length = complete.reduce((sum, { gap, text }) => sum + gap.length + text.length, 0)
    buffer = buffer.slice(length)
    return complete.map(checkUnit).join('')
  }

  return {
    /** @returns the text that has been checked so far */
    take(text: string): string {
      buffer += text
      received += text
      return flush(false)
    },
    /** The rest of the text, at the end of the answer. */
    rest: (): string => flush(true),
    result: (): CheckResult => ({
      cited: agrees || mayDisagree ? [...cited].sort((a, b) => a - b) : [],
      agrees,
      dropped,
      isDeclined: cited.size === 0 && isSentence && !hasClaims && statements <= MAX_DECLINE_STATEMENTS,
      text: removeMarks(received).trim(),
    }),
  }
}

/** Sentences, rows, list entries and blocks of code; the last one may be incomplete. */
function splitAnswerUnits(text: string): AnswerUnit[] {
  const units: AnswerUnit[] = []
  let end = 0
  const add = (start: number, stop: number): void => {
    units.push({ gap: text.slice(end, start), text: text.slice(start, stop) })
    end = stop
  }
  const addSentences = (from: number, to: number): void => {
    // The replacements keep the length of the text.
    const moved = text
      .slice(from, to)
      .replace(STOP_BEFORE_MARKS, '$2$1')
      .replace(EMPHASIS_OF_SENTENCE, (found) => '"'.repeat(found.length))
    for (const span of splitSentences(moved)) add(from + span.start, from + span.end)
  }
  let from = 0
  for (const block of text.matchAll(FENCED)) {
    addSentences(from, block.index)
    from = block.index + block[0].length
    add(block.index, from)
  }
  addSentences(from, text.length)
  return units
}

/** Whether a text is one row of a table, or one with the rule below it. */
function isTableHeader(text: string): boolean {
  return ROW.test(text) && text.split('\n').filter((line) => /[\p{L}\p{N}]/u.test(line)).length < 2
}

/** Whether a statement has more than one word: `yes` declines nothing. */
function isPhrase({ text, ownTerms }: AnswerStatement): boolean {
  return ownTerms.length > 1 || (text.match(/[\p{L}\p{M}]+/gu) ?? []).length > 1
}

/** Whether a statement is the reply that the prompt asks for when no source answers. */
function isDecline({ ownTerms, ownClaims }: AnswerStatement, decline: AnswerStatement): boolean {
  const shared = ownTerms.filter((term) => decline.ownTerms.includes(term)).length
  return ownClaims === 0 && shared >= 2 && 2 * shared >= ownTerms.length
}

/**
 * Returns the numbers of the sources that support a statement: the cited ones, or else the first one or two that do.
 *
 * @returns none for a statement that needs no source; undefined for one without support
 */
function findSupportingSources(
  statement: AnswerStatement,
  text: string,
  { question, sources }: CheckRequest,
  context: readonly EvidenceSource[],
): number[] | undefined {
  if (!addsToQuestion(statement)) return []
  const all = [...sources.values()]
  const isSupportedBy = (numbers: readonly number[]): boolean =>
    supports(
      numbers.flatMap((number) => sources.get(number) ?? []),
      statement,
      { question, all },
    )
  const cited = findMarkNumbers(text).filter((number) => sources.has(number))
  if (cited.length > 0 && isSupportedBy(cited)) return cited
  const numbers = [...sources.keys()]
  const single = numbers.find((number) => isSupportedBy([number]))
  if (single !== undefined) return [single]
  const pairs = numbers.flatMap((one, index) => numbers.slice(index + 1).map((other) => [one, other]))
  const pair = pairs.find(isSupportedBy)
  if (pair !== undefined) return pair
  const isInContext = context.length > 0 && supports(context, statement, { question, all: context })
  return isInContext ? [] : undefined
}

/** Replaces the marks of a statement by those of the given sources. */
function replaceMarks(text: string, numbers: readonly number[]): string {
  const written = findMarkNumbers(text)
  if (written.length === numbers.length && numbers.every((number) => written.includes(number))) return text
  const marks = numbers.map((number) => `[${number}]`).join('')
  const bare = removeMarks(text).trimEnd()
  if (ROW.test(bare)) return bare.replace(/\s*\|?\s*$/, ` ${marks} |`)
  // a fence with text after it closes no block
  return `${bare}${bare.endsWith('```') ? '\n' : ' '}${marks}`
}

/** Checks a complete answer. @returns `checked`: the answer without the statements that its sources do not support */
export function checkAnswer(answer: string, request: CheckRequest): CheckResult & { checked: string } {
  const marks = createCitationWriter((number) => request.sources.has(number))
  const checker = createAnswerChecker(request)
  const checked = `${checker.take(marks.take(answer) + marks.rest())}${checker.rest()}`.trim()
  return { ...checker.result(), checked }
}
