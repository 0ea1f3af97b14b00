import { createIndex, createTable, type Ddl } from './ddl.js'
import type { Table, Trigger } from './table.js'
import { TABLES } from './tables.js'

const DDL: Ddl = {
  type: (stored) => stored,
  rowKey: (kind) => `INTEGER PRIMARY KEY${kind === 'ascending' ? ' AUTOINCREMENT' : ''}`,
  generated: (expression) => `GENERATED ALWAYS AS (${expression}) VIRTUAL`,
  tableOptions: ({ withoutRowid }) => (withoutRowid ? ' STRICT, WITHOUT ROWID' : ' STRICT'),
}

/** The statements that create a new store in SQLite. */
export function sqliteSchema(): string {
  return Object.entries(TABLES)
    .flatMap(([name, table]) => statementsOf(name, table))
    .join('\n')
}

function statementsOf(name: string, table: Table): string[] {
  const { indexes = {}, triggers = {}, firstRow } = table
  return [
    createTable(name, table, DDL),
    ...Object.entries(indexes).map(([index, of]) => createIndex(index, name, of)),
    ...Object.entries(triggers).map(([trigger, of]) => createTrigger(trigger, name, of)),
    ...(firstRow === undefined ? [] : [`INSERT INTO ${name} VALUES (${firstRow.join(', ')});`]),
  ]
}

function createTrigger(name: string, table: string, { event, statements, when }: Trigger): string {
  const condition = when === undefined ? '' : ` WHEN ${when}`
  return `CREATE TRIGGER ${name} AFTER ${event} ON ${table}${condition} BEGIN ${statements}; END;`
}
