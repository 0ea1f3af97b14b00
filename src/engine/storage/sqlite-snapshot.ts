import Sqlite from 'better-sqlite3'
import type { Snapshot } from './driver.js'
import type { Read } from './program.js'
import { queried, runNow, Statements } from './statements.js'

/** A snapshot of a file in WAL mode: a connection with a read transaction that stays open. */
export class SqliteSnapshot implements Snapshot {
  readonly #sqlite: Sqlite.Database
  readonly #statements: Statements
  readonly #reading: <T>(work: () => T) => T
  readonly #closed: () => void

  /** @param convertErrors converts failures of SQLite @param onClosed called once, when the snapshot is closed */
  constructor(path: string, reading: <T>(work: () => T) => T, closed: () => void) {
    this.#sqlite = new Sqlite(path, { readonly: true, fileMustExist: true })
    this.#statements = new Statements(this.#sqlite)
    this.#reading = reading
    this.#closed = closed
    try {
      this.#sqlite.pragma('trusted_schema = OFF')
      this.#sqlite.pragma('cell_size_check = ON')
      this.#sqlite.exec('BEGIN')
      // the first read, and not `BEGIN`, fixes the state
      this.#sqlite.prepare('SELECT count(*) FROM sqlite_schema').get()
    } catch (error) {
      this.#sqlite.close()
      throw error
    }
  }

  async read<T>(program: Read<T>): Promise<T> {
    return runNow(program, (asked) => {
      if (asked.verb === 'run') throw new Error('a snapshot is only read')
      const prepared = this.#reading(() => this.#statements.of(asked.sql))
      if (!('lists' in asked)) return queried(asked, prepared, this.#reading)
      const { verb, sql } = asked
      return asked.lists.map((values) => queried({ verb, sql, values }, prepared, this.#reading))
    })
  }

  close(): void {
    if (!this.#sqlite.open) return
    this.#statements.clear()
    this.#sqlite.close()
    this.#closed()
  }
}
