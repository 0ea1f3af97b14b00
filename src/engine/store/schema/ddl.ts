import type { Kind } from '../formats.js'
import type { Column, Index, Table } from './table.js'

type StoredType = 'INTEGER' | 'REAL' | 'TEXT' | 'BLOB'

/** How a database writes the parts of a table that differ. */
export interface Ddl {
  type(stored: StoredType): string
  rowKey(kind: 'ascending' | 'reused'): string
  generated(expression: string): string
  tableOptions(table: Table): string
}

const STORED: Partial<Record<string, StoredType>> = {
  key: 'INTEGER',
  integer: 'INTEGER',
  time: 'INTEGER',
  flag: 'INTEGER',
  number: 'REAL',
  bytes: 'BLOB',
  packed: 'BLOB',
  'object-bytes': 'BLOB',
  vector: 'BLOB',
  'sha256-bytes': 'BLOB',
  'row-hash': 'BLOB',
}

/** The type of SQLite that stores a kind of value. */
export function storedAs(kind: Kind): StoredType {
  return (typeof kind === 'string' ? STORED[kind] : undefined) ?? 'TEXT'
}

export function createTable(name: string, table: Table, ddl: Ddl): string {
  const { columns, primary = [], unique = [], parent } = table
  const lines = Object.entries(columns).map(([column, of]) => columnOf(column, of, primary, ddl))
  if (primary.length > 1) lines.push(`PRIMARY KEY (${primary.join(', ')})`)
  for (const names of unique) lines.push(`UNIQUE (${names.join(', ')})`)
  if (parent !== undefined)
    lines.push(
      `FOREIGN KEY (${parent.columns.join(', ')}) REFERENCES ${parent.table} (${parent.key.join(', ')}) ON DELETE CASCADE`,
    )
  return `CREATE TABLE ${name} (\n  ${lines.join(',\n  ')}\n)${ddl.tableOptions(table)};`
}

function columnOf(name: string, column: Column, primary: readonly string[], ddl: Ddl): string {
  if (column.rowKey !== undefined) return `${name} ${ddl.rowKey(column.rowKey)}`
  const parts = [name, ddl.type(storedAs(column.kind))]
  if (column.generated !== undefined) return [...parts, ddl.generated(column.generated)].join(' ')
  if (primary.length === 1 && primary[0] === name) parts.push('PRIMARY KEY')
  else if (!column.optional) parts.push('NOT NULL')
  if (column.unique) parts.push('UNIQUE')
  if (column.default !== undefined) parts.push(`DEFAULT ${literal(column.default)}`)
  if (column.checked) parts.push(`CHECK (${name} IN (${valuesOf(column.kind).map(literal).join(', ')}))`)
  return parts.join(' ')
}

function valuesOf(kind: Kind): readonly (string | number)[] {
  return typeof kind === 'string' ? [0, 1] : kind
}

function literal(value: string | number): string {
  return typeof value === 'number' ? String(value) : `'${value}'`
}

/** @param included columns that the index has in addition */
export function createIndex(name: string, table: string, index: Index, included = ''): string {
  const { columns, where, unique } = index
  const condition = where === undefined ? '' : ` WHERE ${where}`
  return `CREATE ${unique ? 'UNIQUE ' : ''}INDEX ${name} ON ${table} (${columns})${included}${condition};`
}
