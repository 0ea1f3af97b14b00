import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Graph } from './graph.js'
import { buildGraph } from './graph-build.js'
import { encodePoints, graphDirectory, listGraphs, makeBuildDirectory, syncPath } from './graph-files.js'
import { offer, type TopRows, topRows } from './scan.kernel.js'
import { BLOCK_ROWS, IN_BUILD, IN_GRAPH, LIVE, PENDING, type VectorEntry, VectorRows } from './vector-rows.js'

/** Numbers a test may shrink. */
export interface GraphLimits {
  /** live vectors from which a graph is kept */
  graphFrom: number
  /** new or dead vectors from which the graph is built again at once, also where they are fewer than a fifth */
  staleFrom: number
  /** quiet time after which a smaller rest is taken into the graph */
  settleMs: number
}

/** So many are compared in about a millisecond at 384 dimensions, less than what a graph saves and costs. */
const GRAPH_FROM_SKETCHED = 40_000
/** Without sketches they take three. */
const GRAPH_FROM = 8_000
const DEFAULT_LIMITS = { staleFrom: 5_000, settleMs: 500 }
const STALE_SHARE = 0.2
/** A rest below this is compared exactly for good: it costs less than a tenth of a millisecond. */
const REST_FROM = 0.05
/** Allowed rows up to which a filtered search leaves the graph alone. */
const FILTERED_EXACT_ROWS = 20_000
/** Allowed rows up to which they are compared one by one; more are looked for among the sketches of all. */
const LISTED_ROWS = 2_000
/** A row compared in full costs as much as the sketches of so many. */
const SKETCH_GAIN = 16
/** Share of allowed rows from which the graph, asked with a filter, beats comparing them. */
const FILTER_SHARE = 0.3
/** After a failed build nothing is tried for this long. */
const RETRY_BUILD_MS = 60_000

export interface VectorIndexOptions {
  dir: string
  vectorSpace: string
  dimension: number
  limits?: Partial<GraphLimits>
  /** `false` compares exactly without WebAssembly */
  sketched?: boolean
  log: (message: string) => void
  /** told when a build begins and ends: only native code of a build can end the process without a request */
  onBuild?: (running: boolean) => void
}

export interface VectorHits {
  keys: number[]
  method: 'exact' | 'hnsw'
}

/** One event-loop turn. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Vectors of one vector space of one space: exact rows, and above a size a graph built aside. */
export class VectorIndex {
  readonly rows: VectorRows
  loading = false
  readonly #options: VectorIndexOptions
  readonly #limits: GraphLimits
  /** keys removed while the source streams: a late page must not bring them back */
  readonly #removed = new Set<number>()
  #graph: Graph | undefined
  #stopBuild: (() => void) | undefined
  #building = false
  #retryAt = 0
  #settle: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: VectorIndexOptions) {
    this.#options = options
    this.rows = new VectorRows(options.dimension, options.sketched)
    const graphFrom = this.rows.sketched ? GRAPH_FROM_SKETCHED : GRAPH_FROM
    this.#limits = { graphFrom, ...DEFAULT_LIMITS, ...options.limits }
  }

  get graphCount(): number {
    return this.#graph === undefined ? 0 : this.rows.graphLive
  }

  /** Points of the graph whose vectors are gone or replaced. */
  get graphDead(): number {
    return this.#graph === undefined ? 0 : this.#graph.points - this.rows.graphLive
  }

  /** Vectors that can be compared now. */
  get count(): number {
    return this.rows.live - this.rows.pending
  }

  /** Begins taking the source's vectors. A graph file that fits is used again; its points wait for their vectors. */
  async beginLoad(): Promise<void> {
    this.loading = true
    if (this.rows.end > 0) return
    const { dir, vectorSpace, dimension, log } = this.#options
    for (const { path, build } of await listGraphs(dir, vectorSpace)) {
      const graph = await Graph.load(path, build, vectorSpace, dimension).catch((error: unknown) => {
        log(`a graph file is not used: ${String(error)}`)
      })
      if (graph !== undefined && this.#graph === undefined && this.rows.end === 0) {
        this.rows.reserve(graph.files.points)
        this.#graph = graph
      } else await rm(path, { recursive: true, force: true })
    }
  }

  /** All vectors of the source have come. */
  endLoad(): void {
    this.loading = false
    this.#removed.clear()
    this.rows.dropPending()
    this.#consider()
  }

  /**
   * Sets vectors.
   *
   * @param replayed they come from the source's stream, which may be behind changes that came directly
   */
  put(entries: Iterable<VectorEntry>, replayed: boolean): void {
    for (const entry of entries) {
      if (replayed && (this.rows.has(entry.key) || this.#removed.has(entry.key))) continue
      if (!replayed) this.#removed.delete(entry.key)
      this.rows.put(entry)
    }
    this.#consider()
  }

  remove(keys: Iterable<number>): void {
    for (const key of keys) {
      if (this.loading) this.#removed.add(key)
      this.rows.remove(key)
    }
    this.#consider()
  }

  /** Exact cosine of a key, where its vector is here. */
  cosine(query: Float32Array, key: number): number | undefined {
    const row = this.rows.rowOf(key)
    return row === undefined ? undefined : this.rows.cosine(query, row)
  }

  /**
   * The keys of the `k` nearest vectors, in no order.
   *
   * @param docs only nodes of these documents; absent = all
   */
  async search(query: Float32Array, k: number, docs?: readonly number[]): Promise<VectorHits> {
    const { top, method } = docs === undefined ? await this.#all(query, k) : await this.#filtered(query, k, docs)
    const keys: number[] = []
    for (const row of top.rows.subarray(0, top.size)) {
      const key = this.rows.keys[row]
      if (key !== undefined && ((this.rows.flags[row] ?? 0) & LIVE) !== 0) keys.push(key)
    }
    return { keys, method }
  }

  async #all(query: Float32Array, k: number): Promise<{ top: TopRows; method: VectorHits['method'] }> {
    const { rows } = this
    if (this.#graph === undefined) {
      return { top: await rows.scan(query, k, { mask: LIVE | PENDING, wanted: LIVE }, turn), method: 'exact' }
    }
    const top = topRows(k)
    this.#offerNearest(this.#graph, query, k, top)
    if (rows.live > rows.graphLive) {
      const rest = await rows.scan(query, k, { mask: LIVE | PENDING | IN_GRAPH, wanted: LIVE }, turn)
      for (let i = 0; i < rest.size; i++) offer(top, rest.rows[i] ?? 0, rest.scores[i] ?? 0)
    }
    return { top, method: 'hnsw' }
  }

  /** Asks for more the more points are dead, until `k` live ones are there or the graph has no more. */
  #offerNearest(graph: Graph, query: Float32Array, k: number, top: TopRows): void {
    const points = graph.points
    if (points === 0) return
    const dead = this.graphDead
    let wanted = Math.min(points, k + Math.ceil((2 * k * dead) / points))
    for (;;) {
      const found = graph.nearest(query, wanted)
      const live = found.rows.filter((row) => this.#isLive(row)).length
      if (live >= Math.min(k, this.rows.graphLive) || wanted === points || found.rows.length < wanted) {
        found.rows.forEach((row, i) => {
          if (this.#isLive(row)) offer(top, row, found.cosines[i] ?? 0)
        })
        return
      }
      wanted = Math.min(points, wanted * 2)
    }
  }

  async #filtered(query: Float32Array, k: number, docs: readonly number[]) {
    const allowed: number[] = []
    for (const doc of new Set(docs)) for (const row of this.rows.rowsOfDoc(doc)) allowed.push(row)
    const useGraph = allowed.length > FILTERED_EXACT_ROWS && allowed.length > FILTER_SHARE * this.rows.live
    if (this.#graph !== undefined && useGraph) {
      return { top: await this.#filteredByGraph(this.#graph, query, k, allowed), method: 'hnsw' as const }
    }
    if (allowed.length <= LISTED_ROWS || allowed.length * SKETCH_GAIN < this.rows.end || !this.rows.sketched) {
      const top = topRows(k)
      await this.#offerExactly(query, allowed, top)
      return { top, method: 'exact' as const }
    }
    const filter = { mask: LIVE | PENDING, wanted: LIVE, allow: this.#bitmap(allowed) }
    return { top: await this.rows.scan(query, k, filter, turn), method: 'exact' as const }
  }

  async #filteredByGraph(graph: Graph, query: Float32Array, k: number, allowed: number[]): Promise<TopRows> {
    const top = topRows(k)
    const allow = this.#bitmap(allowed)
    const found = graph.nearest(query, Math.min(k, graph.points), (row) => allow[row] === 1)
    found.rows.forEach((row, i) => {
      offer(top, row, found.cosines[i] ?? 0)
    })
    const rest = allowed.filter((row) => ((this.rows.flags[row] ?? 0) & IN_GRAPH) === 0)
    await this.#offerExactly(query, rest, top)
    return top
  }

  #bitmap(rows: number[]): Uint8Array {
    const bitmap = new Uint8Array(this.rows.end)
    for (const row of rows) bitmap[row] = 1
    return bitmap
  }

  async #offerExactly(query: Float32Array, candidates: number[], top: TopRows): Promise<void> {
    let compared = 0
    for (const row of candidates) {
      const cosine = this.rows.cosine(query, row)
      if (cosine !== undefined) offer(top, row, cosine)
      if (++compared % FILTERED_EXACT_ROWS === 0) await turn()
    }
  }

  #isLive(row: number): boolean {
    return ((this.rows.flags[row] ?? 0) & LIVE) !== 0
  }

  /** Starts a build when the graph is missing or too far behind. */
  #consider(): void {
    if (this.loading || this.#building || this.#closed || Date.now() < this.#retryAt) return
    const { live, graphLive } = this.rows
    if (live < this.#limits.graphFrom) return
    if (this.#graph === undefined) {
      this.#startBuild()
      return
    }
    const stale = Math.max(this.#limits.staleFrom, STALE_SHARE * live)
    const rest = live - graphLive
    if (this.graphDead > stale) this.#startBuild()
    else if (rest > stale) this.#startBuild(this.#graph)
    else if (rest > REST_FROM * this.#limits.staleFrom) this.#buildWhenQuiet()
  }

  #buildWhenQuiet(): void {
    clearTimeout(this.#settle)
    this.#settle = setTimeout(() => {
      if (!this.#building && !this.#closed && this.#graph !== undefined) this.#startBuild(this.#graph)
    }, this.#limits.settleMs)
    this.#settle.unref()
  }

  #startBuild(base?: Graph): void {
    this.#building = true
    this.#options.onBuild?.(true)
    this.#build(base)
      .catch((error: unknown) => {
        this.rows.buildEnded('none')
        this.#retryAt = Date.now() + RETRY_BUILD_MS
        if (!this.#closed) this.#options.log(`building a graph failed, search stays exact: ${String(error)}`)
      })
      .finally(() => {
        this.#building = false
        this.#stopBuild = undefined
        this.#options.onBuild?.(false)
        this.#consider()
      })
  }

  async #build(base: Graph | undefined): Promise<void> {
    const { dir, vectorSpace, dimension } = this.#options
    const number = (this.#graph?.build ?? 0) + 1
    const temporary = await makeBuildDirectory(dir, vectorSpace, number)
    try {
      const rows = this.rows.takeForBuild(base === undefined ? 0 : IN_GRAPH)
      const points = encodePoints(this.rows.graphPoints(base === undefined ? IN_BUILD : IN_BUILD | IN_GRAPH))
      const job = {
        dir: temporary,
        vectorSpace,
        dimension,
        blockRows: BLOCK_ROWS,
        blocks: this.rows.blocks,
        rows,
        points,
      }
      const { done, stop } = buildGraph(
        base === undefined ? job : { ...job, base: { path: base.files.path, facts: base.files.facts } },
      )
      this.#stopBuild = stop
      await done
      const directory = join(dir, graphDirectory(vectorSpace, number))
      await rm(directory, { recursive: true, force: true })
      await rename(temporary, directory)
      await syncPath(dir)
      const graph = await Graph.load(directory, number, vectorSpace, dimension)
      if (this.#closed) return
      const before = this.#graph
      this.#graph = graph
      this.rows.buildEnded(base === undefined ? 'all' : 'added')
      if (before !== undefined) await rm(before.directory, { recursive: true, force: true })
    } finally {
      await rm(temporary, { recursive: true, force: true })
    }
  }

  /** Stops a running build. The object is not used afterwards. */
  close(): void {
    this.#closed = true
    clearTimeout(this.#settle)
    this.#stopBuild?.()
  }
}
