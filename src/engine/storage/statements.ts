import type Sqlite from 'better-sqlite3'
import type { Asked, Query } from '../base/statements.js'
import type { Damage } from './formats.js'
import { guardOf, type RowGuard } from './guarded-rows.js'
import type { Write } from './program.js'
import { storable } from './storable.js'

export interface Prepared {
  /** returns rows as lists of cells */
  statement: Sqlite.Statement
  /** builds a row from its cells */
  toRow: (cells: unknown) => Record<string, unknown>
  /** absent where no column of the result has a format */
  guard: RowGuard | undefined
}

/** maximum number of damaged cells that are reported, once each */
const TOLD_DAMAGES = 1000

/** The statements of a connection, each prepared once, with guards for the rows that they read. */
export class Statements {
  readonly #sqlite: Sqlite.Database
  readonly #prepared = new Map<string, Prepared>()
  readonly #told = new Set<string>()
  /** Called for each damaged cell when it is first read. */
  onDamage: (damage: Damage) => void = () => undefined

  constructor(sqlite: Sqlite.Database) {
    this.#sqlite = sqlite
  }

  of(sql: string): Prepared {
    let prepared = this.#prepared.get(sql)
    if (prepared === undefined) {
      const statement = this.#sqlite.prepare(sql)
      const columns = statement.reader ? statement.raw().columns() : []
      const guard = guardOf(columns, (damage) => this.#tell(damage))
      prepared = { statement, toRow: rowMaker(columns.map(({ name }) => name)), guard }
      this.#prepared.set(sql, prepared)
    }
    return prepared
  }

  clear(): void {
    this.#prepared.clear()
  }

  #tell(damage: Damage): void {
    const cell = `${damage.table}.${damage.column} ${damage.row}`
    if (this.#told.has(cell) || this.#told.size >= TOLD_DAMAGES) return
    this.#told.add(cell)
    this.onDamage(damage)
  }
}

/**
 * Creates a builder for rows of one shape. The driver's own row objects are hash tables: slower to create and to read,
 * and several times as large.
 */
function rowMaker(names: readonly string[]): Prepared['toRow'] {
  // an object filled name by name would become a hash table, too, from a dozen names on
  const empty: Record<string, unknown> = JSON.parse(`{${names.map((name) => `${JSON.stringify(name)}:null`).join()}}`)
  return (cells) => {
    const row = { ...empty }
    if (!Array.isArray(cells)) throw new Error('a row is no list of cells')
    names.forEach((name, place) => {
      row[name] = cells[place]
    })
    return row
  }
}

/** Runs a program to its end, synchronously. @param execute runs one statement of it */
export function runNow<T>(program: Write<T>, execute: (asked: Asked) => unknown): T {
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
export function queried(
  asked: Query,
  { statement, toRow, guard }: Prepared,
  reading: <T>(work: () => T) => T,
): unknown {
  const check = asked.stored === true ? undefined : guard
  const values = storable(asked.values)
  if (asked.verb === 'get') {
    const cells = reading(() => statement.get(values))
    const row = cells === undefined ? undefined : toRow(cells)
    check?.(row)
    return row
  }
  const lists = reading(() => statement.all(values))
  if (asked.cells === true) return lists
  const rows = lists.map(toRow)
  if (check !== undefined) for (const row of rows) check(row)
  return rows
}
