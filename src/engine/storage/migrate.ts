import type Sqlite from 'better-sqlite3'
import { KsError } from '../../contract/errors.js'
import { FIRST_SCHEMA, MIGRATIONS, type Migration, refusalOf } from './migrations.js'
import { sqliteSchema } from './schema/sqlite.js'

/**
 * Maximum of pages that a step releases. A step that recreates tables may leave pages at the end of the file that were never
 * written: until the next checkpoint, the file would look truncated. Only small stores have such pages.
 */
const RELEASED_PAGES = 4096

/**
 * Creates the tables of a new database, or brings an existing one to the newest schema, each step in a transaction with the
 * number of its schema.
 *
 * @param write runs its work in a transaction
 * @throws KsError for a database of a later version, or of one that is too old
 */
export function migrate(
  sqlite: Sqlite.Database,
  write: (work: () => void) => void,
  steps: readonly Migration[] = MIGRATIONS,
): void {
  const current = Number(sqlite.pragma('user_version', { simple: true }))
  const newest = FIRST_SCHEMA + steps.length
  if (current === 0) {
    write(() => {
      sqlite.exec(sqliteSchema())
      sqlite.pragma(`user_version = ${newest}`)
    })
    return
  }
  const refusal = refusalOf(current, newest)
  if (refusal !== undefined) throw new KsError('unavailable', `the data directory has schema ${current}, ${refusal}`)
  for (const [index, step] of steps.entries()) {
    const schema = FIRST_SCHEMA + index + 1
    if (schema <= current) continue
    write(() => {
      sqlite.exec(step.sqlite)
      sqlite.pragma(`user_version = ${schema}`)
      sqlite.exec(`PRAGMA incremental_vacuum(${RELEASED_PAGES})`)
    })
  }
}
