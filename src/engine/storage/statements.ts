import type Sqlite from 'better-sqlite3'
import type { Asked, Query } from '../base/statements.js'
import type { Damage } from './formats.js'
import { guardOf, type RowGuard } from './guarded-rows.js'
import type { Write } from './program.js'
import { storable } from './storable.js'

export interface Prepared {
  /** gives rows as lists of cells */
  statement: Sqlite.Statement
  /** a row of its cells */
  toRow: (cells: unknown) => Record<string, unknown>
  /** absent where no column of the result has a form */
  guard: RowGuard | undefined
}

/** damaged cells that are told of once each; a file with more of them is told of often enough */
const TOLD_DAMAGES = 1000

/** The statements of a connection, each prepared once, with the guards of what they read. */
export class Statements {
  readonly #sqlite: Sqlite.Database
  readonly #prepared = new Map<string, Prepared>()
  readonly #told = new Set<string>()
  /** Is told of each damaged cell when it is first read. */
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
 * Makes rows of one shape. The objects that the driver makes itself are hash tables: slower to make and to read, and
 * several times as large.
 */
function rowMaker(names: readonly string[]): Prepared['toRow'] {
  // an object that was filled name by name would be a hash table, too, from a dozen names on
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

/** Runs a program to its end, at once. @param execute runs one statement of it */
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

/** What a statement that was asked for rows gives. @param reading makes failures of SQLite known */
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
