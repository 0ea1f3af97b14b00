import { parentPort, workerData } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'

/** Reads every page of a database and posts the problems that SQLite finds; see page-check.ts. */
const MAX_PROBLEMS = 20
/** Invalid values of columns are found row by row elsewhere, with the name of the row. */
const ROW_PROBLEM = /^(NULL|TEXT|NUMERIC|BLOB|INTEGER|REAL) value in |^CHECK constraint failed in /
/** heading of SQLite without information */
const HEADING = /^\*\*\* in database main \*\*\*\s*/

function check(): string[] {
  const sqlite = new Sqlite(String(workerData), { readonly: true, fileMustExist: true })
  try {
    sqlite.pragma('cell_size_check = ON')
    sqlite.pragma('ignore_check_constraints = ON')
    const lines = sqlite.prepare(`PRAGMA integrity_check(${MAX_PROBLEMS})`).pluck().all().map(String)
    return lines
      .flatMap((line) => line.replace(HEADING, '').split('\n'))
      .filter((line) => line !== '' && line !== 'ok' && !ROW_PROBLEM.test(line))
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  } finally {
    sqlite.close()
  }
}

parentPort?.postMessage(check())
