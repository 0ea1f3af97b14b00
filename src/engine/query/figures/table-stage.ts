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

/** Passages whose rows are looked at. Of a report of 200 pages some 50 hold such words. */
const CANDIDATES = 100
/** Places of the evidence that tables may take: a measure is computed from two statements, and one may be told twice. */
const PLACES = 3
/** Labels of a row, and headings of a statement, that are searched for: those of most reports. */
const LABELS_SEARCHED = 4
const HEADS_SEARCHED = 3

/**
 * Passages with the rows that a question about financial statements is answered or computed from, best first; none for
 * other questions, which cost nothing more. Words of such a question hardly ever stand in the table that has the row, so
 * it is looked for by what reports call it, and read row by row.
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

/** Terms by which tables are found that hold rows: labels, headings of statements, names and years. */
export function termsOfFigures({ lines, statements, years }: AskedFigures, names: readonly QuestionName[]): string[] {
  const labels = lines.flatMap((line) => LINES[line].labels.slice(0, LABELS_SEARCHED))
  const heads = statements.flatMap((statement) => STATEMENTS[statement].heads.slice(0, HEADS_SEARCHED))
  const text = [...names.flatMap(({ distinctive }) => distinctive), ...labels, ...heads, ...years].join('\n')
  return [...new Set(analyzeDocument(text))]
}

/** Has tables compared with the question like the candidates of hybrid recall. */
export function withTables(hits: SearchHit[], tables: readonly number[]): SearchHit[] {
  if (tables.length === 0) return hits
  const fused = fuse(hits)
  const ahead = new Set(fused.slice(0, RERANK_LIMIT - tables.length).map(({ key }) => key))
  const below = tables.filter((key) => !ahead.has(key))
  return raise(hits, new Set(below), fused[RERANK_LIMIT - tables.length - 1])
}

/**
 * Gives tables the places behind the best passage: compared with a question that names a ratio, a table that holds its
 * parts looks weak.
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
