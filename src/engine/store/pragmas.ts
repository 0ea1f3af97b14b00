import type Sqlite from 'better-sqlite3'
import { KsError } from '../../contract/errors.js'

/** size in bytes to which the log file is truncated */
export const JOURNAL_SIZE_LIMIT = 64 * 1024 * 1024
/**
 * length of the log in pages at which this connection checkpoints itself, in case the checkpoint thread does not keep
 * up
 */
const LAST_RESORT_CHECKPOINT_PAGES = 8000

/**
 * Sets the pragmas that durability and integrity depend on: log, syncs, checks. @throws KsError where SQLite ignores
 * them
 */
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

/** Moves the log into the database file, except for what readers still need. @returns whether all of it was moved */
export function checkpoint(sqlite: Sqlite.Database, mode: 'PASSIVE' | 'TRUNCATE'): boolean {
  const rows = sqlite.pragma(`wal_checkpoint(${mode})`) as { busy: number; log: number; checkpointed: number }[]
  return rows.every((row) => row.busy === 0 && row.log === row.checkpointed)
}

/** Sets whether a commit syncs the log. Not allowed inside a transaction. A checkpoint always syncs the log. */
export function setSyncAtCommit(sqlite: Sqlite.Database, doesSync: boolean): void {
  sqlite.exec(`PRAGMA synchronous = ${doesSync ? 'FULL' : 'NORMAL'}`)
}

/** Number of frames in the log as far as SQLite knows. */
export function countLogFrames(sqlite: Sqlite.Database): number {
  const [found] = sqlite.pragma('wal_checkpoint(NOOP)') as { log: number }[]
  return Math.max(0, found?.log ?? 0)
}
