import type { TableFormat } from '../../storage/formats.js'
import { type Bindable, type Read, sql } from '../../storage/program.js'
import { askerOf, mayKnow, type Reader } from '../permissions.js'
import { quotesKnown } from '../quotes.js'

/** tables whose rows quote documents */
const QUOTING: ReadonlySet<string> = new Set(['golden_questions', 'failed_queries'])

export type AnyRow = Record<string, unknown>

/** A table, and the columns to read. */
export interface TableReading {
  name: string
  table: TableFormat
  columns: readonly string[]
}

/** The columns that order a table's rows: `rowid`, or the primary key of a table without it. */
export function* orderOf(name: string): Read<string[]> {
  const [kind] = yield* sql.allAsStored<{ wr: number }>('SELECT wr FROM pragma_table_list(?)', [name])
  if (kind?.wr !== 1) return ['rowid']
  return (yield* sql.allAsStored<{ name: string }>('SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk', [
    name,
  ])).map((column) => column.name)
}

/** Rows as lists of cells, and the names of the cells. */
export interface TableRows {
  names: readonly string[]
  rows: unknown[][]
}

/**
 * The next rows of a complete table, each with the additional columns `is_own` and `is_known`: a slice costs the same,
 * however few rows belong to the space or are readable.
 *
 * @param after values of `order` in the previous row; undefined for the first rows
 */
export function* rowsOfTable(
  { space, reader }: { space: { key: number; tenant: string }; reader: Reader },
  { name, table, columns }: TableReading,
  order: readonly string[],
  from: readonly Bindable[] | undefined,
  most: number,
): Read<TableRows> {
  const names = [...new Set([...order, ...columns])]
  const wanted = names.map((column) => (column === 'rowid' ? 'rowid AS rowid' : column))
  const inOrder = `(${order.join(', ')})`
  const known = knownSql(name, table)
  const rows = yield* sql.cellsAsStored(
    `WITH here AS (SELECT CAST(? AS INTEGER) space, ? tenant)
     SELECT t.*, (${table.owned}) IS TRUE is_own, (${known}) is_known
     FROM (SELECT ${wanted.join(', ')} FROM ${name}
           ${from === undefined ? '' : `WHERE ${inOrder} > (${order.map(() => '?').join(', ')})`}
           ORDER BY ${order.join(', ')} LIMIT ${most}) t CROSS JOIN here ORDER BY ${order.map((c) => `t.${c}`).join(', ')}`,
    [space.key, space.tenant, ...(known.includes('?') ? [askerOf(reader)] : []), ...(from ?? [])],
  )
  return { names: [...names, 'is_own', 'is_known'], rows }
}

function knownSql(name: string, { source }: TableFormat): string {
  if (QUOTING.has(name)) return quotesKnown('t')
  return source === undefined ? '1' : mayKnow(`t.${source}`)
}

/** The id of a document, deleted or not. */
export function* documentIdOf(docKey: number): Read<string | undefined> {
  const [document] = yield* sql.allAsStored<{ id: string }>('SELECT id FROM documents WHERE key = ?', [docKey])
  return document?.id
}
