import { analyzeDocument } from '../../../lib/text/analyze.js'
import { CELL_SEPARATOR, splitCells } from '../../../lib/text/table-lines.js'
import { isNumeric } from '../../readers/index.js'
import type { SearchHit } from '../../search/index.js'
import { loadPassages } from '../../store/rows/queries.js'
import { fuse, injectCandidates } from './fuse.js'
import { mentions, toMentionWords } from './names/missing-names.js'
import { findNames, type QuestionName } from './names/question-names.js'
import { MAX_RERANK_CANDIDATES, type RankedCandidate } from './rank.js'
import { type RecallScope, recall } from './recall.js'
import {
  findRequestedFigures,
  LINES,
  type LineName,
  type RequestedFigures,
  STATEMENTS,
  type StatementName,
  toPlainWords,
} from './requested-figures.js'
import type { QuestionScope } from './retrieval.js'

/** Maximum passages whose rows are examined. In a report of 200 pages some 50 contain such words. */
const MAX_TABLE_CANDIDATES = 100
/** Maximum tables in the evidence: a measure is computed from two statements, and a row may be reported twice. */
const MAX_TABLES = 3
/** Number of labels of a row, and of headings of a statement, that are searched for: those of most reports. */
const MAX_SEARCHED_LABELS = 4
const MAX_SEARCHED_HEADS = 3

/**
 * Finds passages with the rows that answer a question about financial statements, best first; none for other questions,
 * at no extra cost. Words of such a question hardly ever occur in the table with the row, so the search uses the labels
 * in reports, and the tables are read row by row.
 */
export async function findFigureTables(question: QuestionScope, reading: RecallScope): Promise<number[]> {
  const { context, admitted, query } = question
  const figures = admitted.profile.rerank.enabled ? findRequestedFigures(query) : undefined
  if (figures === undefined) return []
  const names = findNames(query)
  const { docs, space } = admitted
  const terms = toFigureTerms(figures, names)
  const request = { terms, textK: MAX_TABLE_CANDIDATES, vectorK: 1, ...(docs === undefined ? {} : { docs }) }
  const { hits } = await recall(question, request, reading)
  question.signal.throwIfAborted()
  const keys = hits.sort(compareByText).map(({ key }) => key)
  const passages = await context.db.read(loadPassages(space.key, keys))
  const inOrder = keys.flatMap((key) => passages.get(key) ?? [])
  return pickTables(inOrder, figures, names, MAX_TABLES)
}

const compareByText = (a: SearchHit, b: SearchHit): number => (b.bm25 ?? 0) - (a.bm25 ?? 0) || a.key - b.key

/** Search terms for tables with the rows: labels, headings of statements, names and years. */
export function toFigureTerms(
  { lines, statements, years }: RequestedFigures,
  names: readonly QuestionName[],
): string[] {
  const labels = lines.flatMap((line) => LINES[line].labels.slice(0, MAX_SEARCHED_LABELS))
  const heads = statements.flatMap((statement) => STATEMENTS[statement].heads.slice(0, MAX_SEARCHED_HEADS))
  const text = [...names.flatMap(({ distinctive }) => distinctive), ...labels, ...heads, ...years].join('\n')
  return [...new Set(analyzeDocument(text))]
}

/** Adds tables to the candidates that are compared with the question. */
export function injectTables(hits: SearchHit[], tables: readonly number[]): SearchHit[] {
  if (tables.length === 0) return hits
  const fused = fuse(hits)
  const comparedKeys = new Set(fused.slice(0, MAX_RERANK_CANDIDATES - tables.length).map(({ key }) => key))
  const missing = tables.filter((key) => !comparedKeys.has(key))
  return injectCandidates(hits, new Set(missing), fused[MAX_RERANK_CANDIDATES - tables.length - 1])
}

/**
 * Moves tables to the ranks after the best passage. A question that names a ratio matches a table with its parts
 * poorly.
 */
export function promoteTables(ranked: readonly RankedCandidate[], tables: readonly number[]): RankedCandidate[] {
  const [first, second] = ranked
  if (first === undefined || second === undefined || tables.length === 0) return [...ranked]
  const byKey = new Map(ranked.map((one) => [one.key, one]))
  const lifted = tables.filter((key) => key !== first.key).flatMap((key) => byKey.get(key) ?? [])
  const isLifted = new Set(lifted.map(({ key }) => key))
  const rest = ranked.filter(({ key }) => key !== first.key && !isLifted.has(key))
  return [first, ...lifted.map((one) => ({ ...one, final: second.final })), ...rest]
}

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
  baseScore: number
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
    .filter(({ lines, baseScore }) => lines.size > 0 || (request.lines.length === 0 && baseScore >= STATEMENT_WEIGHT))
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
    for (const [line, match] of best.one.lines) bestMatches.set(line, Math.max(match, bestMatches.get(line) ?? 0))
  }
  return picked
}

function scoreTable({ lines, baseScore }: TableMatch, bestMatches: ReadonlyMap<LineName, number>): number {
  let sum = 0
  for (const [line, match] of lines) sum += Math.max(REPEATED_ROW_FACTOR * match, match - (bestMatches.get(line) ?? 0))
  return sum + baseScore
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
  return { key, lines, baseScore: body.includes(CELL_SEPARATOR) ? inStatement + YEARS_WEIGHT * years : 0, isNamed }
}

function findLines(body: string, names: readonly LineName[]): Map<LineName, number> {
  const found = new Map<LineName, number>()
  for (const row of body.split('\n')) {
    if (!row.includes(CELL_SEPARATOR)) continue
    const [label = '', ...cells] = splitCells(row)
    if (!cells.some(isNumeric)) continue
    const words = toPlainWords(label.replace(/\([^()]*\)/g, ' '))
    for (const line of names) {
      const match = matchLabel(words, line)
      if (match > (found.get(line) ?? 0)) found.set(line, match)
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
  for (const name of LABELS.get(line) ?? []) {
    if (label === name || bare === name || label === `${name} net`) return 1
    if (name.includes(' ') && (label.startsWith(`${name} `) || bare.startsWith(`${name} `))) best = PREFIX_MATCH
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
