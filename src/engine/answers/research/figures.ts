import { analyzeContent } from '../../../lib/text/analyze.js'
import { splitSentences } from '../../../lib/text/sentences.js'

/** A figure in a document. */
export interface FigureMatch {
  /** as written: `$ 17,606`, `34 %` */
  value: string
  /** the words before it with the figures of its row, or the sentence */
  quote: string
}

const AMOUNT = String.raw`\(?[$€£¥]?\s?\(?-?\d[\d,.]*\d?\)?(?:\s?(?:%|percent|million|billion|bps|basis points))?\)?`
const ROW = new RegExp(String.raw`^[\s:–—-]*((?:${AMOUNT}|—|-)(?:[\s|]+(?:${AMOUNT}|—|-))*)`, 'iu')
const AMOUNTS = new RegExp(AMOUNT, 'giu')
const YEAR = /(?<![\d,.])(?:19|20)\d\d(?![\d,.]*\d)/g
/** A longer row of figures is several rows that a parser joined. */
const MAX_COLUMNS = 8
const MIN_SENTENCE_LENGTH = 20

/**
 * Finds the figure of a measure in a passage: in a row that begins with the measure (`Total revenue 17,606 15,785`), in
 * the column of the year if the years precede it, or else in a sentence with the measure, a figure, and the year.
 *
 * @param measure requested measure: `revenue`
 * @param year absent: the first column, usually the latest
 */
export function findFigure(text: string, measure: string, year: string | undefined): FigureMatch | undefined {
  return findInRow(text, measure, year) ?? findInSentence(text, measure, year)
}

function findInRow(text: string, measure: string, year: string | undefined): FigureMatch | undefined {
  const words = measure.match(/[\p{L}\p{N}&]+/gu) ?? []
  if (words.length === 0) return undefined
  const label = new RegExp(
    String.raw`(?<![\p{L}\p{N}])(?:total |net )?${words.map((word) => `${escapePattern(stripEnding(word))}\\p{L}{0,4}`).join('[\\s,&-]{1,3}')}(?=[\s:|$(—-])`,
    'giu',
  )
  for (const found of text.matchAll(label)) {
    const labelEnd = found.index + found[0].length
    const row = ROW.exec(text.slice(labelEnd, labelEnd + 400))?.[1]
    const amounts = (row?.match(AMOUNTS) ?? []).map((one) => one.trim()).filter((one) => !isYear(one))
    if (row === undefined || amounts.length === 0 || amounts.length > MAX_COLUMNS) continue
    const value = selectColumn(amounts, findColumnYears(text.slice(0, found.index)), year)
    if (value !== undefined) return { value, quote: `${found[0]} ${row}`.replace(/\s+/g, ' ').trim() }
  }
  return undefined
}

/** Amount of a year, when years name the columns; without a year, the first amount. */
function selectColumn(
  amounts: readonly string[],
  years: readonly string[],
  year: string | undefined,
): string | undefined {
  if (year === undefined) return amounts[0]
  // Columns of changes follow those of the years.
  const column = years.indexOf(year)
  return column >= 0 && column < amounts.length && years.length <= amounts.length ? amounts[column] : undefined
}

/** Years that name the columns: the last consecutive ones before a row. */
function findColumnYears(text: string): string[] {
  const all = [...text.matchAll(YEAR)].map(([year]) => year)
  const last: string[] = []
  for (const year of all.reverse()) {
    if (last.includes(year)) break
    last.unshift(year)
  }
  return last.slice(0, MAX_COLUMNS)
}

function findInSentence(text: string, measure: string, year: string | undefined): FigureMatch | undefined {
  const measureTerms = new Set(analyzeContent(measure))
  for (const { start, end } of splitSentences(text)) {
    const sentence = text.slice(start, end).replace(/\s+/g, ' ')
    const sentenceTerms = new Set(analyzeContent(sentence))
    if (sentence.length < MIN_SENTENCE_LENGTH || ![...measureTerms].every((term) => sentenceTerms.has(term))) continue
    if (year !== undefined && !sentence.includes(year)) continue
    const amounts = (sentence.match(AMOUNTS) ?? []).map((one) => one.trim()).filter((one) => !isYear(one))
    const value = amounts.length === 0 ? undefined : findNearestAmount(sentence, amounts, year)
    if (value !== undefined) return { value, quote: sentence }
  }
  return undefined
}

/** Of several amounts, the one nearest to the year. */
function findNearestAmount(sentence: string, amounts: readonly string[], year: string | undefined): string | undefined {
  if (year === undefined || amounts.length === 1) return amounts[0]
  const yearOffset = sentence.indexOf(year)
  const distance = (amount: string): number => Math.abs(sentence.indexOf(amount) - yearOffset)
  return [...amounts].sort((a, b) => distance(a) - distance(b))[0]
}

function isYear(amount: string): boolean {
  return /^(?:19|20)\d\d$/.test(amount.replace(/[(),.\s]/g, ''))
}

/** Strips the ending, so that plural and singular are equal. */
function stripEnding(word: string): string {
  return word.length > 4 ? word.replace(/(?:ies|es|s|y)$/iu, '') : word
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
