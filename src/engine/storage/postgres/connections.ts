import type { Client, ClientBase, ClientConfig, Pool, PoolClient } from 'pg'
import type { DatabaseAddress } from '../../../local/database-address.js'
import { isAway } from './errors.js'
import { AS_SQLITE } from './values.js'

export interface PostgresOptions {
  address: DatabaseAddress
  /** name of the gateway on the server */
  application: string
  connections?: number
  /** maximum wait for a row that another transaction has locked, in milliseconds */
  lockMs?: number
}

const CONNECTIONS = 10
/** reserved for heartbeats: a gateway whose requests use all other connections must not look dead */
const URGENT_CONNECTIONS = 2
/** maximum wait for a connection */
const WAIT_MS = 2000
const LOCK_MS = 15_000
/**
 * Maximum duration of a statement. All are designed to be short, so a server that does not reply by then has stopped.
 */
const ANSWER_MS = 30_000
/** Maximum idle time of a transaction on the server; then it releases its locks. */
const HELD_MS = 30_000
/** A commit returns when it is durable, also on a standby where there is one. A stricter setting is left alone. */
const DURABLE = `SELECT CASE WHEN current_setting('synchronous_commit') IN ('on', 'remote_apply') THEN NULL
  ELSE set_config('synchronous_commit', 'on', false) END`
/** the server is a standby; the class of this code asks for another connection */
const NOT_WRITABLE = '25006'

/** The connections of a gateway, with a few reserved for its heartbeats. */
export class Connections {
  readonly #all: Pool
  readonly #urgent: Pool

  private constructor(all: Pool, urgent: Pool) {
    this.#all = all
    this.#urgent = urgent
  }

  static async make({ connections = CONNECTIONS, ...options }: PostgresOptions): Promise<Connections> {
    const servers = new Servers(options.address)
    return new Connections(
      await makePool(options, servers, connections),
      await makePool(options, servers, URGENT_CONNECTIONS),
    )
  }

  take(isUrgent: boolean): Promise<PoolClient> {
    return (isUrgent ? this.#urgent : this.#all).connect()
  }

  async end(): Promise<void> {
    await Promise.all([this.#all.end(), this.#urgent.end()])
  }
}

type Done = ((error: Error) => void) | ((error: null, client: Client) => void)

/** The hosts of one database, and the one that accepts writes, as far as known. */
class Servers {
  readonly #address: DatabaseAddress
  #at = 0

  constructor(address: DatabaseAddress) {
    this.#address = address
  }

  get areSeveral(): boolean {
    return this.#address.hosts.length > 1
  }

  get current(): string {
    return this.#address.hosts[this.#at] ?? this.#address.hosts[0]
  }

  /** Moves on to the next host, unless another connection has already moved on from `tried`. */
  leave(tried: string): void {
    if (tried === this.current) this.#at = (this.#at + 1) % this.#address.hosts.length
  }
}

async function makePool(
  { address, application, lockMs = LOCK_MS }: PostgresOptions,
  servers: Servers,
  max: number,
): Promise<Pool> {
  // an embedded daemon never loads it
  const { default: pg } = await import('pg')
  /** connects to the host that last accepted writes */
  class OneOfHosts extends pg.Client {
    readonly #host: string

    constructor(config?: ClientConfig) {
      const host = servers.current
      super({ ...config, connectionString: host })
      this.#host = host
      givePassword(this, address)
      // the next statement reports a broken connection
      this.on('error', () => undefined)
    }

    override connect(): Promise<Client>
    override connect(done: Done): void
    override connect(done?: Done): Promise<Client> | undefined {
      if (done === undefined) return super.connect()
      super.connect((error: Error | null) => {
        if (error !== null && error !== undefined) servers.leave(this.#host)
        // the declared type has a function for either outcome, but `pg` calls one with both
        const tell = done as (error: Error | null) => void
        tell(error)
      })
      return undefined
    }

    async ready(): Promise<void> {
      try {
        if (servers.areSeveral) await refuseStandby(this)
        await this.query(DURABLE)
      } catch (error) {
        servers.leave(this.#host)
        throw error
      }
    }
  }
  const pool = new pg.Pool({
    Client: OneOfHosts,
    application_name: application,
    max,
    connectionTimeoutMillis: WAIT_MS,
    query_timeout: ANSWER_MS,
    lock_timeout: lockMs,
    idle_in_transaction_session_timeout: HELD_MS,
    keepAlive: true,
    pipeline: true,
    types: AS_SQLITE,
    onConnect: async (client) => {
      if (client instanceof OneOfHosts) await client.ready()
    },
  })
  // a broken idle connection is replaced
  pool.on('error', () => undefined)
  return pool
}

/** Opens a separate connection to the host that accepts writes. @throws the error of the last host where none does */
export async function connectOnce(address: DatabaseAddress): Promise<Client> {
  const { default: pg } = await import('pg')
  const { hosts } = address
  let failure: unknown
  for (const connectionString of hosts) {
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: WAIT_MS })
    givePassword(client, address)
    client.on('error', () => undefined)
    try {
      await client.connect()
      if (hosts.length > 1) await refuseStandby(client)
      return client
    } catch (error) {
      // of several hosts, an error with a reason is worth more than silence
      if (failure === undefined || isAway(failure)) failure = error
      await client.end().catch(() => undefined)
    }
  }
  throw failure
}

/** `pg` takes the empty password of a URL without one for the intended password. */
function givePassword(client: ClientBase, { password }: DatabaseAddress): void {
  if (password !== undefined) Object.assign(client, { password })
}

async function refuseStandby(client: ClientBase): Promise<void> {
  // cast to a number: `pg` parses booleans differently for programs and elsewhere
  const { rows } = await client.query<{ standby: number }>('SELECT pg_is_in_recovery()::int standby')
  if (rows[0]?.standby !== 0) throw Object.assign(new Error('the server is a standby'), { code: NOT_WRITABLE })
}
