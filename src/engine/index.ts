import type { DatabaseAddress } from '../local/database-address.js'
import type { MigrationResult } from './store/postgres/migrate.js'

/** The engine's public interface for the daemon and the chat service. */
export type * from './api.js'
export type { Caller } from './base/caller.js'
export type { EngineOptions } from './base/options.js'
export { openEngine } from './engine.js'

/** Brings a database on a server to the schema of this version. @throws like `migratePostgres` */
export async function migrateServerDatabase(
  address: DatabaseAddress,
  options: { newKeys?: boolean },
): Promise<MigrationResult> {
  // loaded on demand: only migrations need their SQL texts
  const { migratePostgres } = await import('./store/postgres/migrate.js')
  return await migratePostgres(address, options)
}
