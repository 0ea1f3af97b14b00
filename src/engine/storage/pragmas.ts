import type Sqlite from 'better-sqlite3'
import { KsError } from '../../contract/errors.js'

/** what the log keeps, in bytes, of the room that it once took */
export const JOURNAL_SIZE_LIMIT = 64 * 1024 * 1024
/** pages of the log at which this connection checkpoints itself, should the checkpointing thread not keep up */
const LAST_RESORT_CHECKPOINT_PAGES = 8000

/** Sets what the source of truth hangs on: its log, its syncs, its checks. @throws KsError where SQLite does not obey */
export function setPragmas(sqlite: Sqlite.Database): void {
  sqlite.pragma('journal_mode = WAL')
  // better-sqlite3 is compiled to reopen WAL files as NORMAL, so FULL is set and checked at every open.
  sqlite.pragma('synchronous = FULL')
  sqlite.pragma('foreign_keys = ON')
  sqlite.pragma('trusted_schema = OFF')
  sqlite.pragma('cell_size_check = ON')
  sqlite.pragma('mmap_size = 0')
  sqlite.pragma('busy_timeout = 5000')
  sqlite.pragma(`wal_autocheckpoint = ${LAST_RESORT_CHECKPOINT_PAGES}`)
  sqlite.pragma(`journal_size_limit = ${JOURNAL_SIZE_LIMIT}`)
  sqlite.pragma('cache_size = -16384')
  if (sqlite.pragma('synchronous', { simple: true }) !== 2 || sqlite.pragma('journal_mode', { simple: true }) !== 'wal')
    throw new KsError('unavailable', 'the database refused synchronous=FULL with a write-ahead log')
}

/** Moves the log into the database file, as far as nobody needs it. @returns whether all of it was moved */
export function checkpoint(sqlite: Sqlite.Database, mode: 'PASSIVE' | 'TRUNCATE'): boolean {
  const rows = sqlite.pragma(`wal_checkpoint(${mode})`) as { busy: number; log: number; checkpointed: number }[]
  return rows.every((row) => row.busy === 0 && row.log === row.checkpointed)
}

/** Whether a commit syncs the log itself; not to be changed inside a transaction. What moves the log syncs it always. */
export function syncAtCommit(sqlite: Sqlite.Database, doesSync: boolean): void {
  sqlite.exec(`PRAGMA synchronous = ${doesSync ? 'FULL' : 'NORMAL'}`)
}

/** How many frames the log holds as far as SQLite knows. */
export function framesOfLog(sqlite: Sqlite.Database): number {
  const [found] = sqlite.pragma('wal_checkpoint(NOOP)') as { log: number }[]
  return Math.max(0, found?.log ?? 0)
}
