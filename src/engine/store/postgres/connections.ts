import type { Client, ClientBase, ClientConfig, Pool, PoolClient } from 'pg'
import type { DatabaseAddress } from '../../../local/database-address.js'
import { isConnectionFailure } from './errors.js'
import { AS_SQLITE } from './values.js'

export interface PostgresOptions {
  address: DatabaseAddress
  /** name of the gateway on the server */
  application: string
  connections?: number
  /** maximum wait for a row that another transaction has locked, in milliseconds */
  lockTimeoutMs?: number
}

const DEFAULT_CONNECTIONS = 10
/** reserved for heartbeats: a gateway whose requests use all other connections must not look dead */
const URGENT_CONNECTIONS = 2
/** maximum wait for a connection */
const CONNECT_TIMEOUT_MS = 2000
const LOCK_TIMEOUT_MS = 15_000
/**
 * Maximum duration of a statement. All are designed to be short, so a server that does not reply by then has stopped.
 */
const QUERY_TIMEOUT_MS = 30_000
/** Maximum idle time of a transaction on the server; then it releases its locks. */
const IDLE_TRANSACTION_TIMEOUT_MS = 30_000
/** A commit returns when it is durable, also on a standby where there is one. A stricter setting is left alone. */
const ENSURE_SYNCHRONOUS_COMMIT = `SELECT CASE WHEN current_setting('synchronous_commit') IN ('on', 'remote_apply') THEN NULL
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

  static async open({ connections = DEFAULT_CONNECTIONS, ...options }: PostgresOptions): Promise<Connections> {
    const servers = new PostgresHosts(options.address)
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

type ConnectCallback = ((error: Error) => void) | ((error: null, client: Client) => void)

/** The hosts of one database, and the one that accepts writes, as far as known. */
class PostgresHosts {
  readonly #address: DatabaseAddress
  #index = 0

  constructor(address: DatabaseAddress) {
    this.#address = address
  }

  get areSeveral(): boolean {
    return this.#address.hosts.length > 1
  }

  get current(): string {
    return this.#address.hosts[this.#index] ?? this.#address.hosts[0]
  }

  /** Moves on to the next host, unless another connection has already moved on from `tried`. */
  skip(tried: string): void {
    if (tried === this.current) this.#index = (this.#index + 1) % this.#address.hosts.length
  }
}

async function makePool(
  { address, application, lockTimeoutMs = LOCK_TIMEOUT_MS }: PostgresOptions,
  servers: PostgresHosts,
  max: number,
): Promise<Pool> {
  // an embedded daemon never loads it
  const { default: pg } = await import('pg')
  /** connects to the host that last accepted writes */
  class HostClient extends pg.Client {
    readonly #host: string

    constructor(config?: ClientConfig) {
      const host = servers.current
      super({ ...config, connectionString: host })
      this.#host = host
      setPassword(this, address)
      // the next statement reports a broken connection
      this.on('error', () => undefined)
    }

    override connect(): Promise<Client>
    override connect(done: ConnectCallback): void
    override connect(done?: ConnectCallback): Promise<Client> | undefined {
      if (done === undefined) return super.connect()
      super.connect((error: Error | null) => {
        if (error !== null && error !== undefined) servers.skip(this.#host)
        // the declared type has a function for either outcome, but `pg` calls one with both
        const callback = done as (error: Error | null) => void
        callback(error)
      })
      return undefined
    }

    async ready(): Promise<void> {
      try {
        if (servers.areSeveral) await refuseStandby(this)
        await this.query(ENSURE_SYNCHRONOUS_COMMIT)
      } catch (error) {
        servers.skip(this.#host)
        throw error
      }
    }
  }
  const pool = new pg.Pool({
    Client: HostClient,
    application_name: application,
    max,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
    keepAlive: true,
    pipeline: true,
    types: AS_SQLITE,
    onConnect: async (client) => {
      if (client instanceof HostClient) await client.ready()
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
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
    setPassword(client, address)
    client.on('error', () => undefined)
    try {
      await client.connect()
      if (hosts.length > 1) await refuseStandby(client)
      return client
    } catch (error) {
      // of several hosts, an error with a reason is worth more than silence
      if (failure === undefined || isConnectionFailure(failure)) failure = error
      await client.end().catch(() => undefined)
    }
  }
  throw failure
}

/** `pg` takes the empty password of a URL without one for the intended password. */
function setPassword(client: ClientBase, { password }: DatabaseAddress): void {
  if (password !== undefined) Object.assign(client, { password })
}

async function refuseStandby(client: ClientBase): Promise<void> {
  // cast to a number: `pg` parses booleans differently for programs and elsewhere
  const { rows } = await client.query<{ standby: number }>('SELECT pg_is_in_recovery()::int standby')
  if (rows[0]?.standby !== 0) throw Object.assign(new Error('the server is a standby'), { code: NOT_WRITABLE })
}
