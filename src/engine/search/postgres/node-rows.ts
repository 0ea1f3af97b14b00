import { setImmediate as turn } from 'node:timers/promises'
import { type Read, sql, type Write } from '../../store/program.js'
import type { IndexBatch, IndexedNode } from '../ports.js'
import type { ScopeMessage } from '../protocol.js'
import { analyzeNode } from '../text-index.js'
import {
  buildScopeCondition,
  getLexemePrefix,
  quoteLexeme,
  toNumberArray,
  toTextArray,
  toTsvector,
} from './literals.js'
import { SEARCH_SCHEMA } from './schema.js'

/** Nodes per INSERT statement. */
const SLICE_NODES = 100
/** Characters of nodes analysed before the event loop gets a turn: about 4 ms. */
const MAX_TURN_CHARACTERS = 64 * 1024
/** Rows per DELETE statement of a complete removal. */
const MAX_DELETED_ROWS = 2_000

/** A change of the text rows, ready to write. */
export interface NodeRowChange {
  seq: number
  /** keys whose rows are deleted first: removed and replaced nodes */
  deletedKeys: string
  /** new rows, in slices */
  added: readonly AddedNodeSlice[]
}

interface AddedNodeSlice {
  /** as JSON */
  rows: string
  count: number
  /** number of terms of all rows */
  length: number
}

interface AddedNodeRow {
  node: number
  doc: number
  length: number
  terms: string
}

/** Analyses the nodes of a batch, a few milliseconds at a time. @param yieldToQueries awaited in between */
export async function prepareNodeChange(
  space: number,
  batch: IndexBatch,
  yieldToQueries?: () => Promise<void>,
): Promise<NodeRowChange> {
  const prefix = getLexemePrefix(space)
  const added: AddedNodeSlice[] = []
  let slice: AddedNodeRow[] = []
  let characters = 0
  // the last node of a key wins
  for (const node of new Map(batch.add.map((one) => [one.key, one])).values()) {
    slice.push(toRow(prefix, node))
    characters += node.title.length + node.body.length
    if (slice.length >= SLICE_NODES) {
      added.push(toSlice(slice))
      slice = []
    }
    if (characters < MAX_TURN_CHARACTERS) continue
    characters = 0
    await turn()
    await yieldToQueries?.()
  }
  if (slice.length > 0) added.push(toSlice(slice))
  return { seq: batch.seq, deletedKeys: toNumberArray([...batch.remove, ...batch.add.map(({ key }) => key)]), added }
}

function toSlice(rows: readonly AddedNodeRow[]): AddedNodeSlice {
  return { rows: JSON.stringify(rows), count: rows.length, length: rows.reduce((sum, { length }) => sum + length, 0) }
}

function toRow(prefix: string, { key, doc, title, body }: IndexedNode): AddedNodeRow {
  const terms = analyzeNode({ key, doc, text: { title, body } }).split(' ')
  const { length, text } = toTsvector(prefix, terms)
  return { node: key, doc, length, terms: text }
}

/** Writes a change: the rows, the document frequencies of terms, and the totals of the space. */
export function* applyNodes(space: number, { deletedKeys, added }: NodeRowChange): Write<void> {
  if (deletedKeys !== '{}')
    yield* sql.run(
      `WITH gone AS (DELETE FROM ${SEARCH_SCHEMA}.nodes WHERE space = ? AND node = ANY(?::bigint[]) RETURNING length, terms),
       fewer AS (${SUBTRACT_FREQUENCIES})
       UPDATE ${SEARCH_SCHEMA}.spaces SET nodes = nodes - (SELECT count(*) FROM gone),
         length = length - (SELECT coalesce(sum(length), 0) FROM gone) WHERE key = ?`,
      [space, deletedKeys, space, space],
    )
  for (const { rows, count, length } of added) {
    yield* sql.run(
      `WITH given AS (SELECT * FROM json_to_recordset(?::json) AS g(node bigint, doc bigint, length bigint, terms tsvector)),
       put AS (INSERT INTO ${SEARCH_SCHEMA}.nodes (space, node, doc, length, terms) SELECT ?::bigint, node, doc, length, terms FROM given)
       INSERT INTO ${SEARCH_SCHEMA}.terms AS t (space, lexeme, df)
         SELECT ?::bigint, lexeme, count(*) FROM given, unnest(tsvector_to_array(terms)) lexeme GROUP BY lexeme ORDER BY lexeme
         ON CONFLICT (space, lexeme) DO UPDATE SET df = t.df + excluded.df`,
      [rows, space, space],
    )
    yield* sql.run(`UPDATE ${SEARCH_SCHEMA}.spaces SET nodes = nodes + ?, length = length + ? WHERE key = ?`, [
      count,
      length,
      space,
    ])
  }
}

/** Subtracts the terms of the rows in `gone` from the document frequencies. */
const SUBTRACT_FREQUENCIES = `UPDATE ${SEARCH_SCHEMA}.terms t SET df = t.df - less.df
  FROM (SELECT lexeme, count(*) df FROM gone, unnest(tsvector_to_array(gone.terms)) lexeme GROUP BY lexeme) less
  WHERE t.space = ? AND t.lexeme = less.lexeme`

/** Removes some text rows of a space and resets its totals. @returns whether more rows are left */
export function* removeSomeNodes(space: number): Write<boolean> {
  yield* sql.run(`UPDATE ${SEARCH_SCHEMA}.spaces SET nodes = 0, length = 0 WHERE key = ?`, [space])
  const { changes: nodes } = yield* sql.run(
    `DELETE FROM ${SEARCH_SCHEMA}.nodes WHERE space = ? AND node IN (SELECT node FROM ${SEARCH_SCHEMA}.nodes WHERE space = ? ORDER BY node LIMIT ?)`,
    [space, space, MAX_DELETED_ROWS],
  )
  const { changes: terms } = yield* sql.run(
    `DELETE FROM ${SEARCH_SCHEMA}.terms WHERE space = ? AND lexeme IN (SELECT lexeme FROM ${SEARCH_SCHEMA}.terms WHERE space = ? ORDER BY lexeme LIMIT ?)`,
    [space, space, MAX_DELETED_ROWS],
  )
  return nodes === MAX_DELETED_ROWS || terms === MAX_DELETED_ROWS
}

/** Counts row by row, without the totals. */
export function* countNodes(space: number): Read<number> {
  return (
    (yield* sql.get<{ n: number }>(`SELECT count(*) n FROM ${SEARCH_SCHEMA}.nodes WHERE space = ?`, [space]))?.n ?? 0
  )
}

/** Counts the nodes of a scope and their terms. */
export function* countScope(space: number, scope: ScopeMessage): Read<{ nodes: number; length: number }> {
  const counted = yield* sql.get<{ nodes: number; length: number }>(
    `SELECT count(*) nodes, coalesce(sum(length), 0)::bigint length FROM ${SEARCH_SCHEMA}.nodes
     WHERE space = ? AND ${buildScopeCondition(scope)}`,
    [space, toNumberArray(scope.docs)],
  )
  return counted ?? { nodes: 0, length: 0 }
}

/** Counts the nodes of a scope with each lexeme. */
export function* countFrequenciesInScope(
  space: number,
  lexemes: readonly string[],
  scope: ScopeMessage,
): Read<{ lexeme: string; df: number }[]> {
  return yield* sql.all<{ lexeme: string; df: number }>(
    `SELECT lexeme, (SELECT count(*) FROM ${SEARCH_SCHEMA}.nodes
       WHERE space = ? AND terms @@ query AND ${buildScopeCondition(scope)}) df
     FROM unnest(?::text[], ?::tsquery[]) asked(lexeme, query)`,
    [space, toNumberArray(scope.docs), toTextArray(lexemes), toTextArray(lexemes.map(quoteLexeme))],
  )
}

/** Number of nodes with each lexeme; lexemes without nodes are missing. */
export function* loadFrequencies(space: number, lexemes: string): Read<{ lexeme: string; df: number }[]> {
  return yield* sql.all<{ lexeme: string; df: number }>(
    `SELECT lexeme, df FROM ${SEARCH_SCHEMA}.terms WHERE space = ? AND lexeme = ANY(?::text[]) AND df > 0`,
    [space, lexemes],
  )
}
