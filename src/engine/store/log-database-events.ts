import type { EngineLog } from '../base/log.js'
import type { Database } from './database.js'

/** Logs damage and long logs of the database file while it is used. */
export function logDatabaseEvents(file: Database, log: EngineLog): void {
  file.onDamage = (damage) => log.error({ ...damage }, 'a row is damaged; requests that need it fail or omit it')
  file.onDamagedFile = (error) => log.error({ err: error.cause ?? error }, error.message)
  file.onBlockedLog = (bytes) =>
    log.warn(
      { bytes },
      'the write-ahead log cannot be emptied while something reads the database: a check, a backup, another program',
    )
}
