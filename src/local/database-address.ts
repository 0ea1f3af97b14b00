import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

/** The location of a database server, without credentials. */
export interface DatabaseAddress {
  /** hosts and name of the database, for messages */
  displayText: string
  /** the same database by each of its hosts, of which one accepts writes; in the format of `pg` */
  hosts: readonly [string, ...string[]]
  /** Called for each connection, so that a changed password takes effect; absent where the environment provides it. */
  password?: () => Promise<string>
}

const FORM = 'postgres://user@host:port/name, with several hosts as host:port,host:port'
const ADDRESS_PARTS = /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#@]*)(\/[^/?#]*)(\?[^#]*)?$/i

/**
 * Parses the address of a database. The password comes from a file, from `PGPASSWORD` or `~/.pgpass` as `pg` reads
 * them, or from the address.
 *
 * @param passwordFile contains the password on its first line
 * @throws Error with the expected form, without the address: it may contain a password
 */
export function parseDatabaseAddress(address: string, passwordFile?: string): DatabaseAddress {
  const [, scheme, user = '', hostList = '', path = '', query = ''] = ADDRESS_PARTS.exec(address) ?? []
  if (scheme === undefined) throw new Error(FORM)
  const [first, ...others] = hostList.split(',').map((host) => parseHostUrl(`postgres://${user}${host}${path}${query}`))
  if (first === undefined) throw new Error(FORM)
  // The path of a unix socket is a parameter: such an address has no host.
  const displayText = `postgres://${first.searchParams.get('host') ?? hostList}${path}`
  if (passwordFile === undefined) return { displayText, hosts: [first.href, ...others.map(({ href }) => href)] }
  for (const url of [first, ...others]) url.password = ''
  return {
    displayText,
    hosts: [first.href, ...others.map(({ href }) => href)],
    password: async () => getFirstLine(await readFile(passwordFile, 'utf8')),
  }
}

/** The password in an address or in its file, which the log redacts. */
export function readDatabasePassword(address: string, passwordFile?: string): string | undefined {
  if (passwordFile !== undefined) return getFirstLine(readFileSync(passwordFile, 'utf8'))
  const [, , user = ''] = ADDRESS_PARTS.exec(address) ?? []
  const colon = user.indexOf(':')
  return colon === -1 ? undefined : decodeURIComponent(user.slice(colon + 1, -1))
}

function parseHostUrl(text: string): URL {
  if (!URL.canParse(text)) throw new Error(FORM)
  const url = new URL(text)
  // The daemon tries every host and checks itself whether it accepts writes.
  url.searchParams.delete('target_session_attrs')
  return url
}

function getFirstLine(text: string): string {
  return (text.split('\n')[0] ?? '').trimEnd()
}
