import { statSync } from 'node:fs'
import Sqlite from 'better-sqlite3'

/**
 * One process owns a data directory. Node has no flock, so the owner keeps an exclusive transaction open on a tiny
 * SQLite file: the kernel frees it when the process dies, however it dies, so no pid is ever guessed at.
 */
export interface OwnerLock {
  /** Names this very file: two owners of one name follow each other. A copy of the directory has another one. */
  name: string
  release(): void
}

/** longer than a probe by `isLocked` can take, shorter than anybody notices */
const PROBE_TOLERANCE_MS = 250

/** @returns undefined when another process holds the lock */
export function acquireLock(path: string): OwnerLock | undefined {
  const file = new Sqlite(path, { timeout: PROBE_TOLERANCE_MS })
  try {
    // no journal: nothing is ever written, so that a full disk does not matter
    file.pragma('journal_mode = MEMORY')
    file.pragma('locking_mode = EXCLUSIVE')
    file.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    file.close()
    if (isBusy(error)) return undefined
    throw error
  }
  return { name: nameOf(path), release: () => file.close() }
}

/** Numbers of devices change with a restart of the machine; the moment of birth stays, and no copy has it. */
function nameOf(path: string): string {
  const { dev, ino, birthtimeNs } = statSync(path, { bigint: true })
  return birthtimeNs > 0n ? `${ino}@${birthtimeNs}` : `${dev}:${ino}`
}

/** Whether a living process owns the data directory. Takes a shared lock for an instant and nothing else. */
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
