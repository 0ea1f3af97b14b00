import type { TableColumnFormats } from '../../../store/formats.js'
import { type Bindable, type Read, sql } from '../../../store/program.js'
import { type Reader, sqlCanRead, toReaderParameter } from '../../../store/rows/permissions.js'
import { sqlCanReadQuotes } from '../../../store/rows/quotes.js'

/** tables whose rows quote documents */
const QUOTING_TABLES: ReadonlySet<string> = new Set(['golden_questions', 'golden_runs', 'failed_queries'])

export type AnyRow = Record<string, unknown>

/** A table, the columns to read, and those that order its rows. */
export interface OrderedTable {
  name: string
  table: TableColumnFormats
  columns: readonly string[]
  order: readonly string[]
}

/** The columns that order a table's rows: `rowid`, or the primary key of a table without it. */
export function* getOrderColumns(name: string): Read<string[]> {
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
export function* listTableRows(
  { space, reader }: { space: { key: number; tenant: string }; reader: Reader },
  { name, table, columns, order }: OrderedTable,
  after: readonly Bindable[] | undefined,
  limit: number,
): Read<TableRows> {
  const names = [...new Set([...order, ...columns])]
  const selected = names.map((column) => (column === 'rowid' ? 'rowid AS rowid' : column))
  const orderTuple = `(${order.join(', ')})`
  const readableCondition = toReadableCondition(name, table)
  const rows = yield* sql.cellsAsStored(
    `WITH here AS (SELECT CAST(? AS INTEGER) space, ? tenant)
     SELECT t.*, (${table.owned}) IS TRUE is_own, (${readableCondition}) is_known
     FROM (SELECT ${selected.join(', ')} FROM ${name}
           ${after === undefined ? '' : `WHERE ${orderTuple} > (${order.map(() => '?').join(', ')})`}
           ORDER BY ${order.join(', ')} LIMIT ${limit}) t CROSS JOIN here ORDER BY ${order.map((c) => `t.${c}`).join(', ')}`,
    [
      space.key,
      space.tenant,
      ...(readableCondition.includes('?') ? [toReaderParameter(reader)] : []),
      ...(after ?? []),
    ],
  )
  return { names: [...names, 'is_own', 'is_known'], rows }
}

function toReadableCondition(name: string, { source }: TableColumnFormats): string {
  if (QUOTING_TABLES.has(name)) return sqlCanReadQuotes('t')
  return source === undefined ? '1' : sqlCanRead(`t.${source}`)
}

/** The id of a document, deleted or not. */
export function* findDocumentId(docKey: number): Read<string | undefined> {
  const [document] = yield* sql.allAsStored<{ id: string }>('SELECT id FROM documents WHERE key = ?', [docKey])
  return document?.id
}
