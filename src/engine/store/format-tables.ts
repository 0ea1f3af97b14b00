import { omitUndefined } from '../../lib/omit-undefined.js'
import type { TableColumnFormats } from './formats.js'
import type { Table } from './schema/table.js'
import { TABLES } from './schema/tables.js'

const OWNED = { space: 'space_key = here.space', tenant: 't.tenant = here.tenant', store: 'true' }

/** The format of every stored column: the database refuses to return a cell without it, and `ks fsck` reports it. */
export const TABLE_FORMATS: Readonly<Record<string, TableColumnFormats>> = Object.fromEntries(
  Object.entries(TABLES).map(([name, table]) => [name, formatOf(table)]),
)

function formatOf({ owner = 'space', source, derived, columns }: Table): TableColumnFormats {
  const stored = Object.entries(columns).filter(([, { generated }]) => generated === undefined)
  return {
    owned: typeof owner === 'string' ? OWNED[owner] : owner.sql,
    ...omitUndefined({ source, derived }),
    columns: Object.fromEntries(stored.map(([name, { kind, optional = false }]) => [name, { kind, optional }])),
  }
}
