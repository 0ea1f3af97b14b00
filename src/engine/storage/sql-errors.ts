import Sqlite from 'better-sqlite3'
import { KsError } from '../../contract/errors.js'

/** SQLite's word for a file that is not what it wrote: pages, an index that names other rows, no database at all. */
const DAMAGE = /^SQLITE_(CORRUPT|NOTADB)/

/** What SQLite, or the check of its pages, found to be damaged of the database file itself. */
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

/** The failure of the contract for damage that a statement met; nothing for any other error. */
export function damageMet(error: unknown): KsError | undefined {
  if (!(error instanceof Sqlite.SqliteError)) return undefined
  if (DAMAGE.test(error.code)) return new DatabaseDamaged(error.message, error)
  // what SQL itself finds damaged of one row has the same code as what a read finds
  if (error.message !== 'malformed JSON') return undefined
  return new KsError('data-damaged', 'a row is damaged: a column of it is not JSON; `ks fsck` names it', {
    cause: error,
  })
}

/** Whether the disk failed, and not SQLite. */
export function isIoError(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_IOERR')
}

/** PostgreSQL's class of violated constraints, and its word for a text that it cannot store. */
const REFUSED = /^(23\d{3}|22021)$/

/** Whether a row was refused for what it says beside others: a key that is there already, a value that is not allowed. */
export function isConstraint(error: unknown): boolean {
  if (error instanceof Sqlite.SqliteError) return error.code.startsWith('SQLITE_CONSTRAINT')
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && REFUSED.test(error.code)
}
