import { parentPort, workerData } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'

/**
 * Moves the write-ahead log into the database file, in a thread of its own: copying and syncing megabytes would hold the
 * event loop for tens of milliseconds. It shares nothing with the main connection but the files, through SQLite.
 */
const sqlite = new Sqlite(String(workerData), { fileMustExist: true })
sqlite.pragma('synchronous = FULL')
sqlite.pragma('wal_autocheckpoint = 0')

parentPort?.on('message', (message: 'checkpoint' | 'close') => {
  if (message === 'checkpoint') {
    try {
      sqlite.pragma('wal_checkpoint(PASSIVE)')
    } catch {
      // A busy log is moved the next time; an I/O error shows at the next commit, which must not be hidden by this one.
    }
    parentPort?.postMessage('done')
    return
  }
  sqlite.close()
  parentPort?.close()
})
