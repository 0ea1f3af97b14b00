import type Sqlite from 'better-sqlite3'
import type { Damage } from './formats.js'
import { guardOf, type RowGuard } from './guarded-rows.js'

export interface Prepared {
  statement: Sqlite.Statement
  /** absent where no column of the result has a form */
  guard: RowGuard | undefined
}

/** All rows of a statement as lists of cells; it gives objects to whoever runs it next. */
export function listsOf(statement: Sqlite.Statement, values: readonly unknown[]): unknown[] {
  statement.raw(true)
  try {
    return statement.all(values)
  } finally {
    statement.raw(false)
  }
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
      const guard = statement.reader ? guardOf(statement.columns(), (damage) => this.#tell(damage)) : undefined
      prepared = { statement, guard }
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
