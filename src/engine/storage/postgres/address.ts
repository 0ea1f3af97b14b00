import { readFile } from 'node:fs/promises'
import { KsError } from '../../../contract/errors.js'
import type { DatabaseAddress } from '../../base/database-address.js'

/**
 * Reads the address of a database: `postgres://host:port/name`. The password comes from a file, from `PGPASSWORD` or
 * `~/.pgpass`, as `pg` reads them, or from the address.
 *
 * @param passwordFile holds the password on its first line
 * @throws KsError that does not repeat the address
 */
export function databaseAddress(address: string, passwordFile?: string): DatabaseAddress {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || !/^postgres(ql)?:$/.test(url.protocol))
    throw new KsError('invalid-request', 'the address of a database is postgres://host:port/name')
  const host = url.searchParams.get('host') ?? url.host
  const shown = `postgres://${host}${url.pathname}`
  if (passwordFile === undefined) return { shown, connectionString: address }
  url.password = ''
  return {
    shown,
    connectionString: url.href,
    password: async () => ((await readFile(passwordFile, 'utf8')).split('\n')[0] ?? '').trimEnd(),
  }
}
