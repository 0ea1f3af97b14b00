import { CELL_SEPARATOR, splitCells } from '../../../../lib/text/table-lines.js'
import { isNumeric } from '../../../readers/index.js'
import { mentions, toMentionWords } from '../names/missing-names.js'
import type { QuestionName } from '../names/question-names.js'
import { type RequestedFigures, toPlainWords } from './requested-figures.js'
import { LINES, type LineName, STATEMENTS, type StatementName } from './statement-lines.js'

/** A passage that may contain rows of a table. */
export interface TablePassage {
  key: number
  title: string
  body: string
  filename: string
  document_title: string
}

/** The requested rows that a passage contains. */
interface TableMatch {
  key: number
  /** rows by name, with how exactly their labels match, 0 to 1 */
  lines: Map<LineName, number>
  /** score of its statement and years, in addition to its rows */
  worth: number
  /** whether the question names it, its document or its file; true when the question contains no name */
  isNamed: boolean
}

/** Match of a label that only begins with the name: `Net income attributable to …`. */
const PREFIX_MATCH = 0.6
const STATEMENT_WEIGHT = 0.8
const YEARS_WEIGHT = 0.6
/** Factor for a row that an earlier passage already contains. */
const REPEATED_ROW_FACTOR = 0.15
/** Headings are searched in this many characters at the start of a body, above the table. */
const HEAD_CHARACTERS = 400

/**
 * Picks the passages whose tables contain the requested rows, best first. Preferred are the documents that the question
 * names, the statement that the row belongs to, and the requested years; then passages that add rows.
 *
 * @param passages best first, which decides between equals
 */
export function pickTables(
  passages: readonly TablePassage[],
  request: RequestedFigures,
  names: readonly QuestionName[],
  maxCount: number,
): number[] {
  const all = passages
    .map((passage) => matchPassage(passage, request, names))
    .filter(({ lines, worth }) => lines.size > 0 || (request.lines.length === 0 && worth >= STATEMENT_WEIGHT))
  const named = all.filter(({ isNamed }) => isNamed)
  const remaining = new Set(named.length > 0 ? named : all)
  const bestMatches = new Map<LineName, number>()
  const picked: number[] = []
  while (picked.length < maxCount) {
    let best: { one: TableMatch; score: number } | undefined
    for (const one of remaining) {
      const score = scoreTable(one, bestMatches)
      if (score > 0 && (best === undefined || score > best.score)) best = { one, score }
    }
    if (best === undefined) break
    remaining.delete(best.one)
    picked.push(best.one.key)
    for (const [line, how] of best.one.lines) bestMatches.set(line, Math.max(how, bestMatches.get(line) ?? 0))
  }
  return picked
}

function scoreTable({ lines, worth }: TableMatch, bestMatches: ReadonlyMap<LineName, number>): number {
  let sum = 0
  for (const [line, how] of lines) sum += Math.max(REPEATED_ROW_FACTOR * how, how - (bestMatches.get(line) ?? 0))
  return sum + worth
}

function matchPassage(passage: TablePassage, request: RequestedFigures, names: readonly QuestionName[]): TableMatch {
  const { key, title, body, filename, document_title: documentTitle } = passage
  const lines = findLines(body, request.lines)
  const head = `${title}\n${body.slice(0, HEAD_CHARACTERS)}`
  const statement = findStatement(title.slice(title.lastIndexOf('›'))) ?? findStatement(head)
  const inStatement = statement !== undefined && request.statements.includes(statement) ? STATEMENT_WEIGHT : 0
  const years = request.years.filter((year) => head.includes(year)).length / Math.max(1, request.years.length)
  const source = toMentionWords({ text: '', title: `${documentTitle}\n${title}`, source: filename })
  const isNamed = names.length === 0 || names.some((name) => mentions(source, name))
  return { key, lines, worth: body.includes(CELL_SEPARATOR) ? inStatement + YEARS_WEIGHT * years : 0, isNamed }
}

function findLines(body: string, names: readonly LineName[]): Map<LineName, number> {
  const found = new Map<LineName, number>()
  for (const row of body.split('\n')) {
    if (!row.includes(CELL_SEPARATOR)) continue
    const [label = '', ...cells] = splitCells(row)
    if (!cells.some(isNumeric)) continue
    const words = toPlainWords(label.replace(/\([^()]*\)/g, ' '))
    for (const line of names) {
      const how = matchLabel(words, line)
      if (how > (found.get(line) ?? 0)) found.set(line, how)
    }
  }
  return found
}

const LABELS = new Map(
  Object.entries(LINES).map(([name, { labels }]) => [name, labels.map((label) => toPlainWords(label))]),
)

/** How exactly a label names a row, 0 to 1. */
function matchLabel(label: string, line: LineName): number {
  const bare = label.replace(/^total /, '')
  let best = 0
  for (const wanted of LABELS.get(line) ?? []) {
    if (label === wanted || bare === wanted || label === `${wanted} net`) return 1
    if (wanted.includes(' ') && (label.startsWith(`${wanted} `) || bare.startsWith(`${wanted} `))) best = PREFIX_MATCH
  }
  return best
}

function findStatement(text: string): StatementName | undefined {
  const words = ` ${toPlainWords(text)} `
  // A statement of comprehensive income is a different statement.
  for (const statement of ['income', 'balance', 'cash'] as const)
    if (HEADS[statement].some((head) => words.includes(head))) return statement
  return undefined
}

const HEADS = {
  income: STATEMENTS.income.heads.map((head) => ` ${toPlainWords(head)} `),
  balance: STATEMENTS.balance.heads.map((head) => ` ${toPlainWords(head)} `),
  cash: STATEMENTS.cash.heads.map((head) => ` ${toPlainWords(head)} `),
}
