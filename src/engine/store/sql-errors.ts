import Sqlite from 'better-sqlite3'
import { KsError } from '../../contract/errors.js'

/** Error codes of SQLite for a corrupt file: pages, an index that does not match its rows, no database at all. */
const DAMAGE = /^SQLITE_(CORRUPT|NOTADB)/

/** Damage of the database file itself, found by SQLite or by the check of its pages. */
export class DatabaseDamaged extends KsError {
  constructor(what: string, cause?: unknown) {
    super(
      'data-damaged',
      `the database is damaged (${what}): what can still be read is served, nothing is written any more; stop the daemon and put a backup in its place (\`ks restore\`)`,
      cause === undefined ? {} : { cause },
    )
    this.name = 'DatabaseDamaged'
  }
}

/** Converts an error of SQLite about damage into one of the contract; nothing for any other error. */
export function toDamageError(error: unknown): KsError | undefined {
  if (!(error instanceof Sqlite.SqliteError)) return undefined
  if (DAMAGE.test(error.code)) return new DatabaseDamaged(error.message, error)
  // SQL functions report damaged JSON of one row with the same code as a failed read
  if (error.message !== 'malformed JSON') return undefined
  return new KsError('data-damaged', 'a row is damaged: one of its columns is not JSON; `ks fsck` lists it', {
    cause: error,
  })
}

/** Whether the error came from the disk, and not from SQLite. */
export function isIoError(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_IOERR')
}

/** PostgreSQL's class of violated constraints, and its code for a text that it cannot store. */
const CONSTRAINT_CODES = /^(23\d{3}|22021)$/

/** Whether a row violates a constraint: a key that exists already, a value that is not allowed. */
export function isConstraintViolation(error: unknown): boolean {
  if (error instanceof Sqlite.SqliteError) return error.code.startsWith('SQLITE_CONSTRAINT')
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && CONSTRAINT_CODES.test(error.code)
  )
}
