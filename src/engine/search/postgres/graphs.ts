import type { DatabaseAddress } from '../../../local/database-address.js'
import type { Driver } from '../../store/driver.js'
import { sql } from '../../store/program.js'
import { SEARCH_SCHEMA, type SeparateClient, withSeparateClient } from './schema.js'
import { markGraphBuilt, type VectorSpaceRow } from './vector-rows.js'
import { indexedExpression, MAX_EXACT_VECTORS } from './vector-search.js'

/** Vectors arrive in many batches, and adding them to a graph one by one is slower than building it at once. */
const IDLE_MS = 5_000
/** `pgvector` builds no graph of longer float16 vectors. */
const MAX_GRAPH_DIMENSIONS = 4_000
/** memory of the server for a graph build; a graph that does not fit builds more slowly */
const BUILD_MEMORY = '256MB'

export interface VectorGraphsOptions {
  address: DatabaseAddress
  db: Driver
  log: (message: string) => void
  /** vectors from which a vector space gets a graph; tests lower it */
  graphFrom?: number
  settleMs?: number
}

/**
 * Graphs of vectors: each large vector space gets a separate index, built in the background by one of the gateways,
 * without blocking writers. Until it is complete, vectors are compared one by one.
 */
export class VectorGraphs {
  readonly #options: VectorGraphsOptions
  readonly #timers = new Map<number, NodeJS.Timeout>()
  readonly #running = new Map<Promise<void>, number | undefined>()
  #isClosed = false

  constructor(options: VectorGraphsOptions) {
    this.#options = options
  }

  /** Minimal number of vectors for a graph. */
  get minVectors(): number {
    return this.#options.graphFrom ?? MAX_EXACT_VECTORS
  }

  /** Number of graphs being built or waiting until no more vectors arrive. */
  get building(): number {
    return this.#running.size + this.#timers.size
  }

  /** Builds a graph where it is due, once no more vectors arrive. @param row current state of the vector space */
  scheduleBuild(row: VectorSpaceRow): void {
    const { settleMs = IDLE_MS } = this.#options
    clearTimeout(this.#timers.get(row.key))
    this.#timers.delete(row.key)
    if (this.#isClosed || row.has_graph === 1 || row.vectors < this.minVectors || row.dimension > MAX_GRAPH_DIMENSIONS)
      return
    const timer = setTimeout(() => {
      this.#timers.delete(row.key)
      this.#run((client) => this.#build(client, row))
    }, settleMs)
    timer.unref()
    this.#timers.set(row.key, timer)
  }

  /** Removes the graphs of removed vector spaces. */
  async remove(rows: readonly VectorSpaceRow[]): Promise<void> {
    const keys = rows.filter(({ has_graph }) => has_graph === 1).map(({ key }) => key)
    for (const { key } of rows) clearTimeout(this.#timers.get(key))
    if (keys.length === 0) return
    await withSeparateClient(this.#options.address, async (client) => {
      for (const key of keys) await client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${SEARCH_SCHEMA}.${graphName(key)}`)
    })
  }

  /** Cancels running builds. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
    for (const pid of this.#running.values())
      if (pid !== undefined) await this.#options.db.read(sql.get('SELECT pg_cancel_backend(?)', [pid])).catch(() => {})
    await Promise.allSettled(this.#running.keys())
  }

  #run(work: (client: SeparateClient) => Promise<void>): void {
    if (this.#isClosed) return
    const running: Promise<void> = withSeparateClient(this.#options.address, async (client) => {
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

  async #build(client: SeparateClient, row: VectorSpaceRow): Promise<void> {
    const name = graphName(row.key)
    const { rows } = await client.query<{ mine: boolean }>(
      'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) mine',
      [`${SEARCH_SCHEMA} ${name}`],
    )
    // another gateway builds it
    if (rows[0]?.mine !== true) return
    await client.query('SET max_parallel_maintenance_workers = 0') // parallel workers need shared memory, which is small in containers
    await client.query(`SET maintenance_work_mem = '${BUILD_MEMORY}'`)
    if (await isGraphComplete(client, name)) await this.#options.db.write(() => markGraphBuilt(row.key))
    else {
      // removes the remains of an interrupted build
      await client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${SEARCH_SCHEMA}.${name}`)
      await client.query(
        `CREATE INDEX CONCURRENTLY ${name} ON ${SEARCH_SCHEMA}.vectors USING hnsw ((${indexedExpression(row)}) halfvec_ip_ops)
         WHERE vector_space = ${row.key}`,
      )
      const isStillUsed = await this.#options.db.write(() => markGraphBuilt(row.key))
      if (!isStillUsed) await client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${SEARCH_SCHEMA}.${name}`)
    }
  }
}

function graphName(vectorSpace: number): string {
  return `graph_${vectorSpace}`
}

async function isGraphComplete(client: SeparateClient, name: string): Promise<boolean> {
  const { rows } = await client.query<{ valid: boolean }>(
    'SELECT indisvalid valid FROM pg_index WHERE indexrelid = to_regclass($1)',
    [`${SEARCH_SCHEMA}.${name}`],
  )
  return rows[0]?.valid === true
}
