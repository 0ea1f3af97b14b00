import { statSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'
import type { LogState } from './checkpointer.js'
import { checkpoint, JOURNAL_SIZE_LIMIT } from './pragmas.js'

/**
 * Moves the write-ahead log into the database file, in a thread of its own: copying and syncing megabytes would hold the
 * event loop for tens of milliseconds. It shares nothing with the main connection but the files, through SQLite.
 */
const path = String(workerData)
// it waits for nobody: to wait for a reader with the lock of writers in hand holds up the main connection
const sqlite = new Sqlite(path, { fileMustExist: true, timeout: 0 })
sqlite.pragma('synchronous = FULL')
sqlite.pragma('wal_autocheckpoint = 0')

function moveLog(): LogState {
  const isMoved = checkpoint(sqlite, 'PASSIVE')
  const bytes = statSync(`${path}-wal`).size
  if (bytes <= JOURNAL_SIZE_LIMIT) return { bytes, isHeld: !isMoved }
  // The next writer would shorten a log that was moved, but there may be none for long.
  return { bytes, isHeld: !isMoved || !checkpoint(sqlite, 'TRUNCATE') }
}

parentPort?.on('message', (message: 'checkpoint' | 'close') => {
  if (message === 'checkpoint') {
    let state: LogState | undefined
    try {
      state = moveLog()
    } catch {
      // A busy log is moved the next time; an I/O error shows at the next commit, which must not be hidden by this one.
    }
    parentPort?.postMessage(state)
    return
  }
  sqlite.close()
  parentPort?.close()
})
