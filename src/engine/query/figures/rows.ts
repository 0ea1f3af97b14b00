import { CELL_SEPARATOR, cellsOfLine } from '../../../lib/text/table-lines.js'
import { isNumeric } from '../../parse/tables/figures.js'
import { mentions, wordsOf } from '../names/names-missing.js'
import type { QuestionName } from '../names/question-names.js'
import { type AskedFigures, plainWords } from './asked-figures.js'
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
interface Found {
  key: number
  /** rows by name, with how exactly their labels match, 0 to 1 */
  lines: Map<LineName, number>
  /** score of its statement and years, in addition to its rows */
  worth: number
  /** whether the question names it, its document or its file; true when the question contains no name */
  isNamed: boolean
}

/** Match of a label that only begins with the name: `Net income attributable to …`. */
const BEGINS = 0.6
const IN_STATEMENT = 0.8
const OF_YEARS = 0.6
/** Factor for a row that an earlier passage already contains. */
const AGAIN = 0.15
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
  asked: AskedFigures,
  names: readonly QuestionName[],
  most: number,
): number[] {
  const all = passages
    .map((passage) => foundIn(passage, asked, names))
    .filter(({ lines, worth }) => lines.size > 0 || (asked.lines.length === 0 && worth >= IN_STATEMENT))
  const named = all.filter(({ isNamed }) => isNamed)
  const left = new Set(named.length > 0 ? named : all)
  const held = new Map<LineName, number>()
  const picked: number[] = []
  while (picked.length < most) {
    let best: { one: Found; score: number } | undefined
    for (const one of left) {
      const score = worthOf(one, held)
      if (score > 0 && (best === undefined || score > best.score)) best = { one, score }
    }
    if (best === undefined) break
    left.delete(best.one)
    picked.push(best.one.key)
    for (const [line, how] of best.one.lines) held.set(line, Math.max(how, held.get(line) ?? 0))
  }
  return picked
}

function worthOf({ lines, worth }: Found, held: ReadonlyMap<LineName, number>): number {
  let sum = 0
  for (const [line, how] of lines) sum += Math.max(AGAIN * how, how - (held.get(line) ?? 0))
  return sum + worth
}

function foundIn(passage: TablePassage, asked: AskedFigures, names: readonly QuestionName[]): Found {
  const { key, title, body, filename, document_title: documentTitle } = passage
  const lines = linesIn(body, asked.lines)
  const head = `${title}\n${body.slice(0, HEAD_CHARACTERS)}`
  const statement = statementIn(title.slice(title.lastIndexOf('›'))) ?? statementIn(head)
  const inStatement = statement !== undefined && asked.statements.includes(statement) ? IN_STATEMENT : 0
  const years = asked.years.filter((year) => head.includes(year)).length / Math.max(1, asked.years.length)
  const source = wordsOf({ text: '', title: `${documentTitle}\n${title}`, source: filename })
  const isNamed = names.length === 0 || names.some((name) => mentions(source, name))
  return { key, lines, worth: body.includes(CELL_SEPARATOR) ? inStatement + OF_YEARS * years : 0, isNamed }
}

function linesIn(body: string, wanted: readonly LineName[]): Map<LineName, number> {
  const found = new Map<LineName, number>()
  for (const row of body.split('\n')) {
    if (!row.includes(CELL_SEPARATOR)) continue
    const [label = '', ...cells] = cellsOfLine(row)
    if (!cells.some(isNumeric)) continue
    const words = plainWords(label.replace(/\([^()]*\)/g, ' '))
    for (const line of wanted) {
      const how = saysLine(words, line)
      if (how > (found.get(line) ?? 0)) found.set(line, how)
    }
  }
  return found
}

const LABELS = new Map(
  Object.entries(LINES).map(([name, { labels }]) => [name, labels.map((label) => plainWords(label))]),
)

/** How exactly a label names a row, 0 to 1. */
function saysLine(label: string, line: LineName): number {
  const bare = label.replace(/^total /, '')
  let best = 0
  for (const wanted of LABELS.get(line) ?? []) {
    if (label === wanted || bare === wanted || label === `${wanted} net`) return 1
    if (wanted.includes(' ') && (label.startsWith(`${wanted} `) || bare.startsWith(`${wanted} `))) best = BEGINS
  }
  return best
}

function statementIn(text: string): StatementName | undefined {
  const words = ` ${plainWords(text)} `
  // A statement of comprehensive income is a different statement.
  for (const statement of ['income', 'balance', 'cash'] as const)
    if (HEADS[statement].some((head) => words.includes(head))) return statement
  return undefined
}

const HEADS = {
  income: STATEMENTS.income.heads.map((head) => ` ${plainWords(head)} `),
  balance: STATEMENTS.balance.heads.map((head) => ` ${plainWords(head)} `),
  cash: STATEMENTS.cash.heads.map((head) => ` ${plainWords(head)} `),
}
