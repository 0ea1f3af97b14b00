import type Sqlite from 'better-sqlite3'
import { KsError } from '../../contract/errors.js'
import { MIGRATIONS } from './schema.js'

/**
 * Maximum number of pages that a step frees. Where a step rebuilds tables, free pages at the end of the file may never
 * have been written: until the log is moved into the file, it would look truncated. Only a small store has them there.
 */
const MAX_FREED_PAGES = 4096

/**
 * Brings a database to the newest schema. Each step is one transaction, with the number it leads to.
 *
 * @param write runs its work in a transaction
 * @throws KsError for a database of a later version
 */
export function migrate(sqlite: Sqlite.Database, write: (work: () => void) => void): void {
  const current = Number(sqlite.pragma('user_version', { simple: true }))
  if (current > MIGRATIONS.length)
    throw new KsError(
      'unavailable',
      `the data directory has schema ${current}, this version supports schemas up to ${MIGRATIONS.length}: use a newer version`,
    )
  for (let version = current; version < MIGRATIONS.length; version++)
    write(() => {
      sqlite.exec(MIGRATIONS[version] ?? '')
      sqlite.pragma(`user_version = ${version + 1}`)
      sqlite.exec(`PRAGMA incremental_vacuum(${MAX_FREED_PAGES})`)
    })
}
