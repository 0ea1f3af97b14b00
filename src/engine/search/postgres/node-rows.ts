import { setImmediate as turn } from 'node:timers/promises'
import { type Read, sql, type Write } from '../../storage/program.js'
import type { IndexBatch, IndexedNode } from '../ports.js'
import type { ScopeMessage } from '../protocol.js'
import { termsOf } from '../text-index.js'
import { isInScope, numberArray, prefixOf, quoted, textArray, vectorOfTerms } from './literals.js'
import { IN } from './schema.js'

/** Nodes per INSERT statement. */
const SLICE_NODES = 100
/** Characters of nodes analysed before the event loop gets a turn: about 4 ms. */
const CHARACTERS_A_TURN = 64 * 1024
/** Rows per DELETE statement of a complete removal. */
const REMOVED_AT_ONCE = 2_000

/** A change of the text rows, ready to write. */
export interface NodeChange {
  seq: number
  /** keys whose rows are deleted first: removed and replaced nodes */
  gone: string
  /** new rows, in slices */
  added: readonly AddedNodes[]
}

interface AddedNodes {
  /** as JSON */
  rows: string
  count: number
  /** number of terms of all rows */
  length: number
}

interface NodeRow {
  node: number
  doc: number
  length: number
  terms: string
}

/** Analyses the nodes of a batch, a few milliseconds at a time. @param yieldToQueries awaited in between */
export async function nodeChange(space: number, batch: IndexBatch, giveWay?: () => Promise<void>): Promise<NodeChange> {
  const prefix = prefixOf(space)
  const added: AddedNodes[] = []
  let slice: NodeRow[] = []
  let characters = 0
  // the last node of a key wins
  for (const node of new Map(batch.add.map((one) => [one.key, one])).values()) {
    slice.push(toRow(prefix, node))
    characters += node.title.length + node.body.length
    if (slice.length >= SLICE_NODES) {
      added.push(together(slice))
      slice = []
    }
    if (characters < CHARACTERS_A_TURN) continue
    characters = 0
    await turn()
    await giveWay?.()
  }
  if (slice.length > 0) added.push(together(slice))
  return { seq: batch.seq, gone: numberArray([...batch.remove, ...batch.add.map(({ key }) => key)]), added }
}

function together(rows: readonly NodeRow[]): AddedNodes {
  return { rows: JSON.stringify(rows), count: rows.length, length: rows.reduce((sum, { length }) => sum + length, 0) }
}

function toRow(prefix: string, { key, doc, title, body }: IndexedNode): NodeRow {
  const terms = termsOf({ key, doc, text: { title, body } }).split(' ')
  const { length, text } = vectorOfTerms(prefix, terms)
  return { node: key, doc, length, terms: text }
}

/** Writes a change: the rows, the document frequencies of terms, and the totals of the space. */
export function* applyNodes(space: number, { gone, added }: NodeChange): Write<void> {
  if (gone !== '{}')
    yield* sql.run(
      `WITH gone AS (DELETE FROM ${IN}.nodes WHERE space = ? AND node = ANY(?::bigint[]) RETURNING length, terms),
       fewer AS (${fewer})
       UPDATE ${IN}.spaces SET nodes = nodes - (SELECT count(*) FROM gone),
         length = length - (SELECT coalesce(sum(length), 0) FROM gone) WHERE key = ?`,
      [space, gone, space, space],
    )
  for (const { rows, count, length } of added) {
    yield* sql.run(
      `WITH given AS (SELECT * FROM json_to_recordset(?::json) AS g(node bigint, doc bigint, length bigint, terms tsvector)),
       put AS (INSERT INTO ${IN}.nodes (space, node, doc, length, terms) SELECT ?::bigint, node, doc, length, terms FROM given)
       INSERT INTO ${IN}.terms AS t (space, lexeme, df)
         SELECT ?::bigint, lexeme, count(*) FROM given, unnest(tsvector_to_array(terms)) lexeme GROUP BY lexeme ORDER BY lexeme
         ON CONFLICT (space, lexeme) DO UPDATE SET df = t.df + excluded.df`,
      [rows, space, space],
    )
    yield* sql.run(`UPDATE ${IN}.spaces SET nodes = nodes + ?, length = length + ? WHERE key = ?`, [
      count,
      length,
      space,
    ])
  }
}

/** Subtracts the terms of the rows in `gone` from the document frequencies. */
const fewer = `UPDATE ${IN}.terms t SET df = t.df - less.df
  FROM (SELECT lexeme, count(*) df FROM gone, unnest(tsvector_to_array(gone.terms)) lexeme GROUP BY lexeme) less
  WHERE t.space = ? AND t.lexeme = less.lexeme`

/** Removes some text rows of a space and resets its totals. @returns whether more rows are left */
export function* removeSomeNodes(space: number): Write<boolean> {
  yield* sql.run(`UPDATE ${IN}.spaces SET nodes = 0, length = 0 WHERE key = ?`, [space])
  const { changes: nodes } = yield* sql.run(
    `DELETE FROM ${IN}.nodes WHERE space = ? AND node IN (SELECT node FROM ${IN}.nodes WHERE space = ? ORDER BY node LIMIT ?)`,
    [space, space, REMOVED_AT_ONCE],
  )
  const { changes: terms } = yield* sql.run(
    `DELETE FROM ${IN}.terms WHERE space = ? AND lexeme IN (SELECT lexeme FROM ${IN}.terms WHERE space = ? ORDER BY lexeme LIMIT ?)`,
    [space, space, REMOVED_AT_ONCE],
  )
  return nodes === REMOVED_AT_ONCE || terms === REMOVED_AT_ONCE
}

/** Counts row by row, without the totals. */
export function* countNodes(space: number): Read<number> {
  return (yield* sql.get<{ n: number }>(`SELECT count(*) n FROM ${IN}.nodes WHERE space = ?`, [space]))?.n ?? 0
}

/** Counts the nodes of a scope and their terms. */
export function* countScope(space: number, scope: ScopeMessage): Read<{ nodes: number; length: number }> {
  const counted = yield* sql.get<{ nodes: number; length: number }>(
    `SELECT count(*) nodes, coalesce(sum(length), 0)::bigint length FROM ${IN}.nodes
     WHERE space = ? AND ${isInScope('doc', scope)}`,
    [space, numberArray(scope.docs)],
  )
  return counted ?? { nodes: 0, length: 0 }
}

/** Counts the nodes of a scope with each lexeme. */
export function* frequenciesInScope(
  space: number,
  lexemes: readonly string[],
  scope: ScopeMessage,
): Read<{ lexeme: string; df: number }[]> {
  return yield* sql.all<{ lexeme: string; df: number }>(
    `SELECT lexeme, (SELECT count(*) FROM ${IN}.nodes
       WHERE space = ? AND terms @@ query AND ${isInScope('doc', scope)}) df
     FROM unnest(?::text[], ?::tsquery[]) asked(lexeme, query)`,
    [space, numberArray(scope.docs), textArray(lexemes), textArray(lexemes.map(quoted))],
  )
}

/** Number of nodes with each lexeme; lexemes without nodes are missing. */
export function* frequenciesOf(space: number, lexemes: string): Read<{ lexeme: string; df: number }[]> {
  return yield* sql.all<{ lexeme: string; df: number }>(
    `SELECT lexeme, df FROM ${IN}.terms WHERE space = ? AND lexeme = ANY(?::text[]) AND df > 0`,
    [space, lexemes],
  )
}
