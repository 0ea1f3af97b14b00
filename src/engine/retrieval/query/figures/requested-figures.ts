import { MEASURES, type Measure } from './measures.js'
import { LINES, type LineName, STATEMENTS, type StatementName } from './statement-lines.js'

/** Rows of financial statements that a question is about. */
export interface RequestedFigures {
  /** names of rows, as reports use them */
  lines: LineName[]
  /** statements that the question names, or that contain its rows */
  statements: StatementName[]
  /** years that the question names, four digits each */
  years: string[]
}

/** A question with more rows is a text, not a question. */
const MAX_LINES = 8
/** Maximum length of a question that is read, in UTF-16 units. */
const MAX_READ_LENGTH = 2000
/** The question asks for reasons, not for a figure. */
const EXPLAINS = /\b(?:why|drivers?|drove|driven|reasons?|caus(?:e|ed|es)|explain|describe|discuss)\b/i
const YEAR = /(?<!\d)(?:19|20)\d\d(?!\d)/g
/** `FY22`, `FY'22`: years of this century. */
const SHORT_YEAR = /\b(?:FY|CY)\s?['’]?(\d\d)(?!\d)/gi

const MEASURE_NAMES = MEASURES.flatMap((measure) =>
  measure.names.map((name) => ({ name: ` ${toPlainWords(name)} `, measure })),
)
const STATEMENT_NAMES = (['income', 'balance', 'cash'] as const).flatMap((statement) =>
  STATEMENTS[statement].asked.map((name) => ({ name: ` ${toPlainWords(name)} `, statement })),
)

/** Finds the rows of financial statements that a question is about; undefined when there are none. */
export function findRequestedFigures(question: string): RequestedFigures | undefined {
  const read = question.slice(0, MAX_READ_LENGTH)
  const words = ` ${toPlainWords(read)} `
  const explains = EXPLAINS.test(read)
  const measures = findMeasures(words).filter(({ isComputed }) => isComputed || !explains)
  const lines = [...new Set(measures.flatMap((measure) => measure.lines))].slice(0, MAX_LINES)
  const named = explains && lines.length === 0 ? [] : STATEMENT_NAMES.filter(({ name }) => words.includes(name))
  if (lines.length === 0 && named.length === 0) return undefined
  const statements = new Set([
    ...named.map(({ statement }) => statement),
    ...lines.map((line): StatementName => LINES[line].statement),
  ])
  return { lines, statements: [...statements], years: findYears(read) }
}

/** Measures that a question names. A name inside a longer matching name does not count. */
function findMeasures(words: string): Measure[] {
  const found = MEASURE_NAMES.filter(({ name }) => words.includes(name))
  const longest = found.filter(({ name }) => !found.some((other) => other.name !== name && other.name.includes(name)))
  return [...new Set(longest.map(({ measure }) => measure))]
}

function findYears(question: string): string[] {
  const short = [...question.matchAll(SHORT_YEAR)].map(([, year]) => `20${year}`)
  return [...new Set([...(question.match(YEAR) ?? []), ...short])]
}

/** Words in lower case and singular, separated by single spaces. Both sides of a comparison use this form. */
export function toPlainWords(text: string): string {
  const words =
    text
      .toLowerCase()
      .replace(/['’]s?\b/g, '')
      .match(/[a-z]+/g) ?? []
  return words.map((word) => (word === 'cashflow' || word === 'cashflows' ? 'cash flow' : toSingular(word))).join(' ')
}

function toSingular(word: string): string {
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}
