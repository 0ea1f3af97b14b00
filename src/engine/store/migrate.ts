import type Sqlite from 'better-sqlite3'
import { KsError } from '../../contract/errors.js'
import { FIRST_SCHEMA, findSchemaRefusal, MIGRATIONS, type Migration } from './migrations.js'
import { sqliteSchema } from './schema/sqlite.js'

/**
 * Maximum number of pages that a step frees. Where a step rebuilds tables, free pages at the end of the file may never
 * have been written: until the log is moved into the file, it would look truncated. Only a small store has them there.
 */
const MAX_FREED_PAGES = 4096

/**
 * Creates the tables of a new database, or brings an existing one to the newest schema. Each step is one transaction,
 * with the number it leads to.
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
  const refusal = findSchemaRefusal(current, newest)
  if (refusal !== undefined) throw new KsError('unavailable', `the data directory has schema ${current}, ${refusal}`)
  for (const [index, step] of steps.entries()) {
    const schema = FIRST_SCHEMA + index + 1
    if (schema <= current) continue
    write(() => {
      sqlite.exec(step.sqlite)
      sqlite.pragma(`user_version = ${schema}`)
      sqlite.exec(`PRAGMA incremental_vacuum(${MAX_FREED_PAGES})`)
    })
  }
}
