import { statSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'
import type { WalState } from './checkpointer.js'
import { checkpoint, JOURNAL_SIZE_LIMIT } from './pragmas.js'

/**
 * Thread that moves the write-ahead log into the database file: copying and syncing megabytes would block the event
 * loop for tens of milliseconds. It shares only the files with the main connection, through SQLite.
 */
const path = String(workerData)
// no busy timeout: waiting for a reader while holding the write lock would block the main connection
const sqlite = new Sqlite(path, { fileMustExist: true, timeout: 0 })
sqlite.pragma('synchronous = FULL')
sqlite.pragma('wal_autocheckpoint = 0')

function moveLog(): WalState {
  const isMoved = checkpoint(sqlite, 'PASSIVE')
  const bytes = statSync(`${path}-wal`).size
  if (bytes <= JOURNAL_SIZE_LIMIT) return { bytes, isBlocked: !isMoved }
  // The next writer would truncate a log that was moved, but the next write may be far away.
  return { bytes, isBlocked: !isMoved || !checkpoint(sqlite, 'TRUNCATE') }
}

parentPort?.on('message', (message: 'checkpoint' | 'close') => {
  if (message === 'checkpoint') {
    let state: WalState | undefined
    try {
      state = moveLog()
    } catch {
      // A busy log is moved the next time. An I/O error must surface at the next commit, not be consumed here.
    }
    parentPort?.postMessage(state)
    return
  }
  sqlite.close()
  parentPort?.close()
})
