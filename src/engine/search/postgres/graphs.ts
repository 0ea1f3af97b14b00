import type { DatabaseAddress } from '../../../local/database-address.js'
import type { Driver } from '../../storage/driver.js'
import { sql } from '../../storage/program.js'
import { type Client, IN, withClient } from './schema.js'
import { setGraph, type VectorSpaceRow } from './vector-rows.js'
import { EXACT_VECTORS, indexedAs } from './vector-search.js'

/** Vectors come in many batches, and into a graph they come slower one by one than all at once. */
const SETTLE_MS = 5_000
/** `pgvector` builds no graph of longer halves. */
const MOST_DIMENSIONS = 4_000
/** of the server, while a graph is built; what does not fit makes it slower */
const BUILD_MEMORY = '256MB'

export interface GraphsOptions {
  address: DatabaseAddress
  db: Driver
  log: (message: string) => void
  /** vectors from which a vector space gets a graph; tests make it small */
  graphFrom?: number
  settleMs?: number
}

/**
 * Graphs of vectors: for each large vector space an index of its vectors alone, built behind everything else, by one of the
 * gateways, without keeping anybody from writing. Until it is whole, vectors are compared one by one.
 */
export class Graphs {
  readonly #options: GraphsOptions
  readonly #timers = new Map<number, NodeJS.Timeout>()
  readonly #running = new Map<Promise<void>, number | undefined>()
  #isClosed = false

  constructor(options: GraphsOptions) {
    this.#options = options
  }

  /** Vectors from which a vector space has a graph. */
  get from(): number {
    return this.#options.graphFrom ?? EXACT_VECTORS
  }

  /** Graphs that are being built, or wait for vectors to stop coming. */
  get building(): number {
    return this.#running.size + this.#timers.size
  }

  /** Builds a graph where one is due, once no more vectors come. @param row as it is now */
  consider(row: VectorSpaceRow): void {
    const { settleMs = SETTLE_MS } = this.#options
    clearTimeout(this.#timers.get(row.key))
    this.#timers.delete(row.key)
    if (this.#isClosed || row.has_graph === 1 || row.vectors < this.from || row.dimension > MOST_DIMENSIONS) return
    const timer = setTimeout(() => {
      this.#timers.delete(row.key)
      this.#run((client) => this.#build(client, row))
    }, settleMs)
    timer.unref()
    this.#timers.set(row.key, timer)
  }

  /** Removes the graphs of vector spaces that are gone. */
  async remove(rows: readonly VectorSpaceRow[]): Promise<void> {
    const keys = rows.filter(({ has_graph }) => has_graph === 1).map(({ key }) => key)
    for (const { key } of rows) clearTimeout(this.#timers.get(key))
    if (keys.length === 0) return
    await withClient(this.#options.address, async (client) => {
      for (const key of keys) await client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${IN}.${nameOf(key)}`)
    })
  }

  /** Gives up what is being built. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
    for (const pid of this.#running.values())
      if (pid !== undefined) await this.#options.db.read(sql.get('SELECT pg_cancel_backend(?)', [pid])).catch(() => {})
    await Promise.allSettled(this.#running.keys())
  }

  #run(work: (client: Client) => Promise<void>): void {
    if (this.#isClosed) return
    const running: Promise<void> = withClient(this.#options.address, async (client) => {
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() pid')
      this.#running.set(running, rows[0]?.pid)
      if (!this.#isClosed) await work(client)
    })
      .catch((error: unknown) => {
        if (!this.#isClosed) this.#options.log(`a graph of vectors was not built: ${String(error)}`)
      })
      .finally(() => this.#running.delete(running))
    this.#running.set(running, undefined)
  }

  async #build(client: Client, row: VectorSpaceRow): Promise<void> {
    const name = nameOf(row.key)
    const { rows } = await client.query<{ mine: boolean }>(
      'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) mine',
      [`${IN} ${name}`],
    )
    // another gateway builds it
    if (rows[0]?.mine !== true) return
    await client.query('SET max_parallel_maintenance_workers = 0') // they need shared memory, of which containers have little
    await client.query(`SET maintenance_work_mem = '${BUILD_MEMORY}'`)
    if (await isWhole(client, name)) await this.#options.db.write(() => setGraph(row.key))
    else {
      // what a build left that was ended
      await client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${IN}.${name}`)
      await client.query(
        `CREATE INDEX CONCURRENTLY ${name} ON ${IN}.vectors USING hnsw ((${indexedAs(row)}) halfvec_ip_ops)
         WHERE vector_space = ${row.key}`,
      )
      const isWanted = await this.#options.db.write(() => setGraph(row.key))
      if (!isWanted) await client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${IN}.${name}`)
    }
  }
}

function nameOf(vectorSpace: number): string {
  return `graph_${vectorSpace}`
}

async function isWhole(client: Client, name: string): Promise<boolean> {
  const { rows } = await client.query<{ valid: boolean }>(
    'SELECT indisvalid valid FROM pg_index WHERE indexrelid = to_regclass($1)',
    [`${IN}.${name}`],
  )
  return rows[0]?.valid === true
}
