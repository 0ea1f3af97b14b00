import { KsError } from '../contract/errors.js'
import { migrateServerDatabase } from '../engine/index.js'
import { resolveLocalDirs } from '../local/dirs.js'
import { resolveDataLayout } from '../local/layout.js'
import { toDatabaseAddress } from './assemble.js'
import { loadSettings } from './config.js'

export interface MigrateFlags {
  dataDir?: string
  backend?: string
  newKeys?: boolean
  json?: boolean
}

/**
 * Migrates the configured database to the schema of this version.
 *
 * @throws KsError `invalid-request` if no database server is configured; errors of `migrateServerDatabase`
 */
export async function migrateDatabase(
  { dataDir = resolveLocalDirs().data, backend, newKeys = false }: MigrateFlags,
  env: Readonly<Record<string, string | undefined>>,
): ReturnType<typeof migrateServerDatabase> {
  const { settings } = loadSettings({ file: resolveDataLayout(dataDir).config, env, flags: { backend } })
  const address = toDatabaseAddress(settings)
  if (address === undefined)
    throw new KsError(
      'invalid-request',
      'there is nothing to migrate: give --backend. A database in a file is migrated to the schema of this version when a daemon opens it',
    )
  return await migrateServerDatabase(address, { newKeys })
}
