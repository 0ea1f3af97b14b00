import { KsError } from '../contract/errors.js'
import { migrateServer } from '../engine/index.js'
import { localDirs } from '../local/dirs.js'
import { dataLayout } from '../local/layout.js'
import { backendAddress } from './assemble.js'
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
 * @throws KsError `invalid-request` if no database server is configured; errors of `migrateServer`
 */
export async function migrateDatabase(
  { dataDir = localDirs().data, backend, newKeys = false }: MigrateFlags,
  env: Readonly<Record<string, string | undefined>>,
): ReturnType<typeof migrateServer> {
  const { settings } = loadSettings({ file: dataLayout(dataDir).config, env, flags: { backend } })
  const address = backendAddress(settings)
  if (address === undefined)
    throw new KsError(
      'invalid-request',
      'there is nothing to migrate: give --backend. A database in a file is migrated to the schema of this version when a daemon opens it',
    )
  return await migrateServer(address, { newKeys })
}
