import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

/** The location of a database server, without credentials. */
export interface DatabaseAddress {
  /** for people: hosts and name only */
  shown: string
  /** the same database by each of its hosts, of which one accepts writes; in the format of `pg` */
  hosts: readonly [string, ...string[]]
  /** Called for each connection, so that a changed password takes effect; absent where the environment provides it. */
  password?: () => Promise<string>
}

const FORM = 'postgres://user@host:port/name, with several hosts as host:port,host:port'
const PARTS = /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#@]*)(\/[^/?#]*)(\?[^#]*)?$/i

/**
 * Parses the address of a database. The password comes from a file, from `PGPASSWORD` or `~/.pgpass` as `pg` reads
 * them, or from the address.
 *
 * @param passwordFile contains the password on its first line
 * @throws Error with the expected form, without the address: it may contain a password
 */
export function databaseAddress(address: string, passwordFile?: string): DatabaseAddress {
  const [, scheme, user = '', named = '', path = '', query = ''] = PARTS.exec(address) ?? []
  if (scheme === undefined) throw new Error(FORM)
  const [first, ...others] = named.split(',').map((host) => one(`postgres://${user}${host}${path}${query}`))
  if (first === undefined) throw new Error(FORM)
  // The path of a unix socket is a parameter: such an address has no host.
  const shown = `postgres://${first.searchParams.get('host') ?? named}${path}`
  if (passwordFile === undefined) return { shown, hosts: [first.href, ...others.map(({ href }) => href)] }
  for (const url of [first, ...others]) url.password = ''
  return {
    shown,
    hosts: [first.href, ...others.map(({ href }) => href)],
    password: async () => firstLine(await readFile(passwordFile, 'utf8')),
  }
}

/** The password in an address or in its file, which the log redacts. */
export function databasePassword(address: string, passwordFile?: string): string | undefined {
  if (passwordFile !== undefined) return firstLine(readFileSync(passwordFile, 'utf8'))
  const [, , user = ''] = PARTS.exec(address) ?? []
  const at = user.indexOf(':')
  return at === -1 ? undefined : decodeURIComponent(user.slice(at + 1, -1))
}

function one(text: string): URL {
  if (!URL.canParse(text)) throw new Error(FORM)
  const url = new URL(text)
  // Any host is tried, and asked whether it accepts writes.
  url.searchParams.delete('target_session_attrs')
  return url
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').trimEnd()
}
