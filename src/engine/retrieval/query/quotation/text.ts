import type { EvidenceItem } from '../../../../contract/gateway/queries.js'
import { type SentenceSpan, splitSentences } from '../../../../lib/text/sentences.js'
import { findSign } from '../question/answer-type.js'
import type { QuotationCandidate } from './candidates.js'
import { computeWeightFraction, findMatchedTerms, type PreparedQuestion } from './question.js'
import type { Quotation } from './quote.js'

/** The blocks of one passage in the text of an answer. */
export interface QuotedBlock extends SentenceSpan {
  /** number of the passage in the evidence, from 1 */
  cited: number
  /** ranges of the answer that most likely are the requested value */
  marks: SentenceSpan[]
}

/** An answer made of quotations. */
export interface QuotationText {
  text: string
  blocks: QuotedBlock[]
}

/** Maximum characters of the authors in a citation line. */
const MAX_AUTHORS_LENGTH = 60
/** Replaces omitted text. */
const OMISSION_MARK = '…'

/**
 * Formats a quotation: for each passage a line with its citation mark, file, section, page and date, then its blocks
 * with their layout.
 *
 * @param items the quoted evidence
 */
export function formatQuotation(
  { question, units, versions }: Quotation,
  items: readonly EvidenceItem[],
): QuotationText {
  let text = ''
  const blocks: QuotedBlock[] = []
  for (const passage of new Set(units.map((unit) => unit.passage))) {
    const item = items[passage]
    if (item === undefined) continue
    const own = units.filter((unit) => unit.passage === passage)
    if (text !== '') text += '\n\n'
    const heading = own.every(({ unit }) => unit.heading === own[0]?.unit.heading) ? (own[0]?.unit.heading ?? '') : ''
    const relation = versions.find((version) => version.passage === passage)?.relation
    text += `${relation === undefined ? '' : `${relation}: `}[${passage + 1}] ${formatLocation(item, heading)}\n\n`
    const start = text.length
    const marks: SentenceSpan[] = []
    let previous: QuotationCandidate | undefined
    for (const candidate of own) {
      text += formatUnitContext(candidate, previous, heading)
      const { unit } = candidate
      if (unit.isCut.before) text += `${OMISSION_MARK} `
      const { length } = text
      const mark = findAnsweringRange(question, candidate)
      if (mark !== undefined) marks.push({ start: length + mark.start, end: length + mark.end })
      text += unit.text
      if (unit.isCut.after) text += ` ${OMISSION_MARK}`
      previous = candidate
    }
    blocks.push({ cited: passage + 1, start, end: text.length, marks })
  }
  return { text, blocks }
}

/** Separator between a unit and the previous one of its passage, with the lines that the unit depends on. */
function formatUnitContext(
  { unit }: QuotationCandidate,
  previous: QuotationCandidate | undefined,
  heading: string,
): string {
  const isSameBlock = previous?.unit.block === unit.block
  const separator = previous === undefined ? '' : isSameBlock ? '\n' : '\n\n'
  if (isSameBlock) return separator
  const ownHeading = unit.heading !== heading && unit.heading !== previous?.unit.heading ? `${unit.heading}\n\n` : ''
  return `${separator}${ownHeading}${unit.lead === '' ? '' : `${unit.lead}\n`}`
}

/** File, section, page, date and author of a passage. @param heading the headings within the passage */
function formatLocation({ metadata, citations: [citation] }: EvidenceItem, heading: string): string {
  const { filename, documentTitle, title, documentDate, author } = metadata
  const name = String(filename ?? documentTitle ?? title ?? '')
  const parts = [name, ...(citation?.sectionPath ?? []), ...(heading === '' ? [] : heading.split(' › '))]
  const distinct = [...new Set(parts)].filter((part) => part !== '')
  const page = citation?.pageNumber === undefined ? [] : [`p. ${citation.pageNumber}`]
  const date = documentDate === undefined ? [] : [String(documentDate).slice(0, 'yyyy-mm-dd'.length)]
  const authors = author === undefined ? [] : [truncateAuthors(String(author))]
  return [distinct.join(' › '), ...page, ...date, ...authors].join(', ')
}

/** Truncates a list of authors at a complete name; papers have dozens of authors. */
function truncateAuthors(authors: string): string {
  if (authors.length <= MAX_AUTHORS_LENGTH) return authors
  const end = authors.lastIndexOf(', ', MAX_AUTHORS_LENGTH)
  return `${authors.slice(0, end > 0 ? end : MAX_AUTHORS_LENGTH)} ${OMISSION_MARK}`
}

/** Finds the value of the requested type in a unit, or else the sentence or line that matches the question best. */
function findAnsweringRange(
  question: PreparedQuestion,
  { unit: { kind, text } }: QuotationCandidate,
): SentenceSpan | undefined {
  const parts = kind === 'paragraph' ? splitSentences(text) : splitLines(text)
  const fractions = parts.map(({ start, end }) =>
    computeWeightFraction(question, findMatchedTerms(question, text.slice(start, end))),
  )
  const best = parts[fractions.indexOf(Math.max(...fractions))]
  if (best === undefined) return undefined
  const value = findSign(question.type, text.slice(best.start, best.end), question.text)
  if (value !== undefined && value.strength === 1 && MARKED_TYPES.has(question.type))
    return { start: best.start + value.start, end: best.start + value.end }
  return parts.length > 1 ? best : undefined
}

const MARKED_TYPES: ReadonlySet<string> = new Set(['time', 'money', 'percent', 'duration'])

function splitLines(text: string): SentenceSpan[] {
  return [...text.matchAll(/[^\n]+/gu)].map(({ 0: line, index }) => ({ start: index, end: index + line.length }))
}
