import type Sqlite from 'better-sqlite3'
import type { DatabaseStatement, ReadStatement, SqlProgram } from '../base/statements.js'
import type { Damage } from './formats.js'
import { createRowGuard, type RowGuard } from './guarded-rows.js'
import { toStorable } from './storable.js'

export interface SqliteStatement {
  /** returns rows as lists of cells */
  statement: Sqlite.Statement
  /** builds a row from its cells */
  toRow: (cells: unknown) => Record<string, unknown>
  /** absent where no column of the result has a format */
  guard: RowGuard | undefined
}

/** maximum number of damaged cells that are reported, once each */
const MAX_REPORTED_DAMAGES = 1000

/** The statements of a connection, each prepared once, with guards for the rows that they read. */
export class SqliteStatements {
  readonly #sqlite: Sqlite.Database
  readonly #prepared = new Map<string, SqliteStatement>()
  readonly #reported = new Set<string>()
  /** Called for each damaged cell when it is first read. */
  onDamage: (damage: Damage) => void = () => undefined

  constructor(sqlite: Sqlite.Database) {
    this.#sqlite = sqlite
  }

  get(sql: string): SqliteStatement {
    let prepared = this.#prepared.get(sql)
    if (prepared === undefined) {
      const statement = this.#sqlite.prepare(sql)
      const columns = statement.reader ? statement.raw().columns() : []
      const guard = createRowGuard(columns, (damage) => this.#report(damage))
      prepared = { statement, toRow: createRowBuilder(columns.map(({ name }) => name)), guard }
      this.#prepared.set(sql, prepared)
    }
    return prepared
  }

  clear(): void {
    this.#prepared.clear()
  }

  #report(damage: Damage): void {
    const cell = `${damage.table}.${damage.column} ${damage.row}`
    if (this.#reported.has(cell) || this.#reported.size >= MAX_REPORTED_DAMAGES) return
    this.#reported.add(cell)
    this.onDamage(damage)
  }
}

/**
 * Creates a builder for rows of one shape. The driver's own row objects are hash tables: slower to create and to read,
 * and several times as large.
 */
function createRowBuilder(names: readonly string[]): SqliteStatement['toRow'] {
  // an object filled name by name would become a hash table, too, from a dozen names on
  const empty: Record<string, unknown> = JSON.parse(`{${names.map((name) => `${JSON.stringify(name)}:null`).join()}}`)
  return (cells) => {
    const row = { ...empty }
    if (!Array.isArray(cells)) throw new Error('a row is no list of cells')
    names.forEach((name, index) => {
      row[name] = cells[index]
    })
    return row
  }
}

/** Runs a program to its end, synchronously. @param execute runs one statement of it */
export function runProgramSync<T>(program: SqlProgram<T>, execute: (request: DatabaseStatement) => unknown): T {
  for (let step = program.next(); ; ) {
    if (step.done === true) return step.value
    let outcome: unknown
    try {
      outcome = execute(step.value)
    } catch (error) {
      step = program.throw(error)
      continue
    }
    step = program.next(outcome)
  }
}

/** Runs a statement that returns rows. @param convertErrors converts failures of SQLite */
export function queryRows(
  query: ReadStatement,
  { statement, toRow, guard }: SqliteStatement,
  convertErrors: <T>(work: () => T) => T,
): unknown {
  const check = query.stored === true ? undefined : guard
  const values = toStorable(query.values)
  if (query.verb === 'get') {
    const cells = convertErrors(() => statement.get(values))
    const row = cells === undefined ? undefined : toRow(cells)
    check?.(row)
    return row
  }
  const lists = convertErrors(() => statement.all(values))
  if (query.cells === true) return lists
  const rows = lists.map(toRow)
  if (check !== undefined) for (const row of rows) check(row)
  return rows
}
