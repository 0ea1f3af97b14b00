import Sqlite from 'better-sqlite3'
import type { Snapshot } from './driver.js'
import { answerClock, type Read } from './program.js'
import { queryRows, runProgramSync, SqliteStatements } from './statements.js'

/** A snapshot of a file in WAL mode: a connection with a read transaction that stays open. */
export class SqliteSnapshot implements Snapshot {
  readonly #sqlite: Sqlite.Database
  readonly #clock: () => number
  readonly #statements: SqliteStatements
  readonly #convertErrors: <T>(work: () => T) => T
  readonly #onClosed: () => void

  /** @param convertErrors converts failures of SQLite @param onClosed called once, when the snapshot is closed */
  constructor(
    { path, clock }: { path: string; clock: () => number },
    convertErrors: <T>(work: () => T) => T,
    onClosed: () => void,
  ) {
    this.#sqlite = new Sqlite(path, { readonly: true, fileMustExist: true })
    this.#clock = clock
    this.#statements = new SqliteStatements(this.#sqlite)
    this.#convertErrors = convertErrors
    this.#onClosed = onClosed
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
    return runProgramSync(answerClock(program, this.#clock), (request) => {
      if (request.verb === 'run') throw new Error('a snapshot is only read')
      const prepared = this.#convertErrors(() => this.#statements.get(request.sql))
      if (!('lists' in request)) return queryRows(request, prepared, this.#convertErrors)
      const { verb, sql } = request
      return request.lists.map((values) => queryRows({ verb, sql, values }, prepared, this.#convertErrors))
    })
  }

  close(): void {
    if (!this.#sqlite.open) return
    this.#statements.clear()
    this.#sqlite.close()
    this.#onClosed()
  }
}
