import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

/** Where the server of a database is, without what opens it. */
export interface DatabaseAddress {
  /** for people: hosts and name alone */
  shown: string
  /** the same database by each of its hosts, of which one takes writes; as `pg` reads them */
  hosts: readonly [string, ...string[]]
  /** Asked for each connection, so that a password that was changed is taken up; absent where the environment has it. */
  password?: () => Promise<string>
}

const FORM = 'postgres://user@host:port/name, with several hosts as host:port,host:port'
const PARTS = /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#@]*)(\/[^/?#]*)(\?[^#]*)?$/i

/**
 * Reads the address of a database. The password comes from a file, from `PGPASSWORD` or `~/.pgpass`, as `pg` reads them, or
 * from the address.
 *
 * @param passwordFile holds the password on its first line
 * @throws Error that says the form, without the address: it may hold a password
 */
export function databaseAddress(address: string, passwordFile?: string): DatabaseAddress {
  const [, scheme, user = '', named = '', path = '', query = ''] = PARTS.exec(address) ?? []
  if (scheme === undefined) throw new Error(FORM)
  const [first, ...others] = named.split(',').map((host) => one(`postgres://${user}${host}${path}${query}`))
  if (first === undefined) throw new Error(FORM)
  // a socket is named by a parameter, as it has no host
  const shown = `postgres://${first.searchParams.get('host') ?? named}${path}`
  if (passwordFile === undefined) return { shown, hosts: [first.href, ...others.map(({ href }) => href)] }
  for (const url of [first, ...others]) url.password = ''
  return {
    shown,
    hosts: [first.href, ...others.map(({ href }) => href)],
    password: async () => firstLine(await readFile(passwordFile, 'utf8')),
  }
}

/** The password in an address, or in the file beside it, for the log to leave out. */
export function databasePassword(address: string, passwordFile?: string): string | undefined {
  if (passwordFile !== undefined) return firstLine(readFileSync(passwordFile, 'utf8'))
  const [, , user = ''] = PARTS.exec(address) ?? []
  const at = user.indexOf(':')
  return at === -1 ? undefined : decodeURIComponent(user.slice(at + 1, -1))
}

function one(text: string): URL {
  if (!URL.canParse(text)) throw new Error(FORM)
  const url = new URL(text)
  // whichever host is met is asked whether it can be written
  url.searchParams.delete('target_session_attrs')
  return url
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').trimEnd()
}
