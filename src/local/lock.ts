import { statSync } from 'node:fs'
import Sqlite from 'better-sqlite3'

/**
 * Lock of the one process that owns a data directory. Node has no flock, so the owner keeps an exclusive transaction
 * open on a tiny SQLite file: the kernel releases it when the process dies in any way, so no process id is needed.
 */
export interface OwnerLock {
  /**
   * Identifies this very file: owners with the same name follow each other. A copy of the directory has another name.
   */
  name: string
  release(): void
}

/** longer than a probe by `isLocked` takes, too short to be noticed */
const PROBE_TOLERANCE_MS = 250

/** @returns `undefined` when another process holds the lock */
export function acquireLock(path: string): OwnerLock | undefined {
  const file = new Sqlite(path, { timeout: PROBE_TOLERANCE_MS })
  try {
    // no journal: nothing is ever written, so a full disk does not matter
    file.pragma('journal_mode = MEMORY')
    file.pragma('locking_mode = EXCLUSIVE')
    file.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    file.close()
    if (isBusy(error)) return undefined
    throw error
  }
  return { name: identifyFile(path), release: () => file.close() }
}

/** Device numbers change with a restart of the machine; the creation time stays, and no copy has it. */
function identifyFile(path: string): string {
  const { dev, ino, birthtimeNs } = statSync(path, { bigint: true })
  return birthtimeNs > 0n ? `${ino}@${birthtimeNs}` : `${dev}:${ino}`
}

/** Whether a living process owns the data directory. Only takes a shared lock for an instant. */
export function isLocked(path: string): boolean {
  let file: Sqlite.Database | undefined
  try {
    file = new Sqlite(path, { timeout: 0, readonly: true, fileMustExist: true })
    file.prepare('SELECT count(*) FROM sqlite_master').get()
    return false
  } catch (error) {
    return isBusy(error)
  } finally {
    file?.close()
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY')
}
