import { analyzeDocument } from '../../../../lib/text/analyze.js'
import type { SearchHit } from '../../../search/index.js'
import { loadPassages } from '../../../store/rows/queries.js'
import { fuse } from '../fuse.js'
import { injectCandidates } from '../inject-candidates.js'
import { findNames, type QuestionName } from '../names/question-names.js'
import { MAX_RERANK_CANDIDATES, type RankedCandidate } from '../rank.js'
import { type RecallScope, recall } from '../recall.js'
import type { QuestionScope } from '../retrieval.js'
import { findRequestedFigures, type RequestedFigures } from './requested-figures.js'
import { pickTables } from './rows.js'
import { LINES, STATEMENTS } from './statement-lines.js'

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
