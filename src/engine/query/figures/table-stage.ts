import { analyzeDocument } from '../../../lib/text/analyze.js'
import type { EngineContext } from '../../context.js'
import { loadPassages } from '../../rows/queries.js'
import type { SearchHit } from '../../search/ports.js'
import type { Admitted } from '../admission.js'
import { fuse } from '../fuse.js'
import { namesIn, type QuestionName } from '../names/question-names.js'
import { raise } from '../raise.js'
import { type Ranked, RERANK_LIMIT } from '../rank.js'
import { type RecallScope, recall } from '../recall.js'
import { type AskedFigures, askedFigures } from './asked-figures.js'
import { pickTables } from './rows.js'
import { LINES, STATEMENTS } from './statement-lines.js'

/** Maximum passages whose rows are examined. In a report of 200 pages some 50 contain such words. */
const CANDIDATES = 100
/** Maximum tables in the evidence: a measure is computed from two statements, and a row may be reported twice. */
const PLACES = 3
/** Number of labels of a row, and of headings of a statement, that are searched for: those of most reports. */
const LABELS_SEARCHED = 4
const HEADS_SEARCHED = 3

/**
 * Finds passages with the rows that answer a question about financial statements, best first; none for other questions,
 * at no extra cost. Words of such a question hardly ever occur in the table with the row, so the search uses the labels
 * in reports, and the tables are read row by row.
 */
export async function findFigureTables(
  context: EngineContext,
  admitted: Admitted,
  query: string,
  reading: RecallScope,
  signal: AbortSignal,
): Promise<number[]> {
  const asked = admitted.profile.rerank.enabled ? askedFigures(query) : undefined
  if (asked === undefined) return []
  const names = namesIn(query)
  const { docs, space } = admitted
  const terms = termsOfFigures(asked, names)
  const { hits } = await recall(
    context,
    admitted,
    { terms, textK: CANDIDATES, vectorK: 1, ...(docs === undefined ? {} : { docs }) },
    reading,
    signal,
  )
  signal.throwIfAborted()
  const keys = hits.sort(byText).map(({ key }) => key)
  const passages = await context.db.read(loadPassages(space.key, keys))
  const inOrder = keys.flatMap((key) => passages.get(key) ?? [])
  return pickTables(inOrder, asked, names, PLACES)
}

const byText = (a: SearchHit, b: SearchHit): number => (b.bm25 ?? 0) - (a.bm25 ?? 0) || a.key - b.key

/** Search terms for tables with the rows: labels, headings of statements, names and years. */
export function termsOfFigures({ lines, statements, years }: AskedFigures, names: readonly QuestionName[]): string[] {
  const labels = lines.flatMap((line) => LINES[line].labels.slice(0, LABELS_SEARCHED))
  const heads = statements.flatMap((statement) => STATEMENTS[statement].heads.slice(0, HEADS_SEARCHED))
  const text = [...names.flatMap(({ distinctive }) => distinctive), ...labels, ...heads, ...years].join('\n')
  return [...new Set(analyzeDocument(text))]
}

/** Adds tables to the candidates that are compared with the question. */
export function withTables(hits: SearchHit[], tables: readonly number[]): SearchHit[] {
  if (tables.length === 0) return hits
  const fused = fuse(hits)
  const ahead = new Set(fused.slice(0, RERANK_LIMIT - tables.length).map(({ key }) => key))
  const below = tables.filter((key) => !ahead.has(key))
  return raise(hits, new Set(below), fused[RERANK_LIMIT - tables.length - 1])
}

/**
 * Moves tables to the ranks after the best passage. A question that names a ratio matches a table with its parts
 * poorly.
 */
export function liftTables(ranked: readonly Ranked[], tables: readonly number[]): Ranked[] {
  const [first, second] = ranked
  if (first === undefined || second === undefined || tables.length === 0) return [...ranked]
  const byKey = new Map(ranked.map((one) => [one.key, one]))
  const lifted = tables.filter((key) => key !== first.key).flatMap((key) => byKey.get(key) ?? [])
  const isLifted = new Set(lifted.map(({ key }) => key))
  const rest = ranked.filter(({ key }) => key !== first.key && !isLifted.has(key))
  return [first, ...lifted.map((one) => ({ ...one, final: second.final })), ...rest]
}
