import { BACKGROUND_SAMPLES, type Background, backgroundOf } from './background.js'
import { offerOutside, offerRows, scan } from './exact-scan.js'
import type { Graph } from './graph.js'
import { GraphKeeper, type GraphKeeperOptions } from './graph-keeper.js'
import type { VectorEntry } from './graph-points.js'
import type { DocumentScope } from './ports.js'
import { offer, type TopRows, topRows } from './scan.kernel.js'
import { IN_GRAPH, LIVE, PENDING, VectorRows } from './vector-rows.js'

/** Allowed rows up to which a filtered search leaves the graph alone. */
const FILTERED_EXACT_ROWS = 20_000
/** Share of allowed rows from which the graph, asked with a filter, beats comparing them. */
const FILTER_SHARE = 0.3
/** Allowed rows up to which they are compared one by one; more are looked for among the sketches of all. */
const LISTED_ROWS = 2_000
/** A row compared in full costs as much as the sketches of so many. */
const SKETCH_GAIN = 16

export interface VectorIndexOptions extends GraphKeeperOptions {
  dimension: number
  /** `false` compares exactly without vector instructions */
  sketched?: boolean
}

export interface VectorHits {
  keys: number[]
  method: 'exact' | 'hnsw'
}

/** Vectors of one vector space of one space: exact rows, and above a size a graph built aside. */
export class VectorIndex {
  readonly rows: VectorRows
  loading = false
  readonly #keeper: GraphKeeper
  /** keys removed while the source streams: a late page must not bring them back */
  readonly #removed = new Set<number>()

  constructor(options: VectorIndexOptions) {
    this.rows = new VectorRows(options.dimension, options.sketched)
    this.#keeper = new GraphKeeper(this.rows, options)
  }

  get #graph(): Graph | undefined {
    return this.#keeper.graph
  }

  get graphCount(): number {
    return this.#graph === undefined ? 0 : this.rows.graphLive
  }

  /** Points of the graph whose vectors are gone or replaced. */
  get graphDead(): number {
    return this.#keeper.dead
  }

  /** Vectors that can be compared now. */
  get count(): number {
    return this.rows.live - this.rows.pending
  }

  /**
   * Begins taking the source's vectors. A graph file that fits is used again; its points wait for their vectors, or for the
   * source to confirm those that the file holds.
   *
   * @returns how many vectors came with a file
   */
  async beginLoad(): Promise<number> {
    this.loading = true
    return this.rows.end === 0 ? await this.#keeper.load() : 0
  }

  /** Takes the vectors of a file for those of the source where the source has the same. @returns keys of those it lacks */
  confirm(keys: Float64Array, docs: Float64Array, sums: Uint32Array): Float64Array {
    const lacking = keys.filter((key, i) => {
      if (this.#removed.has(key) || this.rows.has(key)) return false
      return !this.rows.confirm(key, docs[i] ?? 0, sums[i] ?? 0)
    })
    return lacking
  }

  /** All vectors of the source have come. */
  endLoad(): void {
    this.loading = false
    this.#removed.clear()
    this.rows.dropPending()
    this.#keeper.consider()
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
    if (!this.loading) this.#keeper.consider()
  }

  remove(keys: Iterable<number>): void {
    for (const key of keys) {
      if (this.loading) this.#removed.add(key)
      this.rows.remove(key)
    }
    if (!this.loading) this.#keeper.consider()
  }

  /** Exact cosine of a key, where its vector is here. */
  cosine(query: Float32Array, key: number): number | undefined {
    const row = this.rows.rowOf(key)
    const cosine = row === undefined ? undefined : this.rows.cosine(query, row)
    // Halves of a unit vector may be longer than one by a ten-thousandth.
    return cosine === undefined ? undefined : Math.max(-1, Math.min(1, cosine))
  }

  /**
   * Cosines of a query with rows at even distances, whatever they hold.
   *
   * @param scope rows of these documents alone; absent = all
   * @returns undefined where there are too few
   */
  background(query: Float32Array, scope?: DocumentScope): Background | undefined {
    const listed = scope === undefined ? undefined : this.#rowsOf(undefined, scope)
    const end = listed?.length ?? this.rows.end
    const step = Math.max(1, Math.floor(end / BACKGROUND_SAMPLES))
    const cosines: number[] = []
    for (let at = 0; at < end && cosines.length < BACKGROUND_SAMPLES; at += step) {
      const row = listed === undefined ? at : (listed[at] ?? 0)
      const cosine = this.#isLive(row) ? this.rows.cosine(query, row) : undefined
      if (cosine !== undefined) cosines.push(cosine)
    }
    return backgroundOf(cosines)
  }

  /**
   * The keys of the `k` nearest vectors, in no order.
   *
   * @param docs only nodes of these documents; absent = all
   * @param scope only nodes of this scope; absent = all
   */
  async search(query: Float32Array, k: number, docs?: readonly number[], scope?: DocumentScope): Promise<VectorHits> {
    const isLimited = docs !== undefined || scope !== undefined
    const { top, method } = isLimited
      ? await this.#filtered(query, k, this.#rowsOf(docs, scope))
      : await this.#all(query, k)
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
      return { top: await scan(rows, query, k, { mask: LIVE | PENDING, wanted: LIVE }), method: 'exact' }
    }
    const top = topRows(k)
    this.#offerNearest(this.#graph, query, k, top)
    if (rows.live > rows.graphLive) await offerOutside(rows, query, top)
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

  /** Rows of documents in a scope. */
  #rowsOf(docs: readonly number[] | undefined, scope: DocumentScope | undefined): number[] {
    const rowsIn = (some: Iterable<number>): number[] =>
      [...new Set(some)].flatMap((doc) => [...this.rows.rowsOfDoc(doc)])
    if (scope === undefined) return rowsIn(docs ?? [])
    const listed = new Set(scope.docs)
    if (docs !== undefined) return rowsIn(docs.filter((doc) => listed.has(doc) !== scope.isExcluded))
    if (!scope.isExcluded) return rowsIn(listed)
    const excluded = this.#bitmap(rowsIn(listed))
    return Array.from(excluded.keys()).filter((row) => excluded[row] === 0 && this.#isLive(row))
  }

  async #filtered(query: Float32Array, k: number, allowed: number[]) {
    const useGraph = allowed.length > FILTERED_EXACT_ROWS && allowed.length > FILTER_SHARE * this.rows.live
    if (this.#graph !== undefined && useGraph) {
      return { top: await this.#filteredByGraph(this.#graph, query, k, allowed), method: 'hnsw' as const }
    }
    if (
      allowed.length <= LISTED_ROWS ||
      allowed.length * SKETCH_GAIN < this.rows.end ||
      this.rows.sketch === undefined
    ) {
      const top = topRows(k)
      await offerRows(this.rows, query, allowed, top)
      return { top, method: 'exact' as const }
    }
    const filter = { mask: LIVE | PENDING, wanted: LIVE, allow: this.#bitmap(allowed) }
    return { top: await scan(this.rows, query, k, filter), method: 'exact' as const }
  }

  async #filteredByGraph(graph: Graph, query: Float32Array, k: number, allowed: number[]): Promise<TopRows> {
    const top = topRows(k)
    const allow = this.#bitmap(allowed)
    const found = graph.nearest(query, Math.min(k, graph.points), (row) => allow[row] === 1)
    found.rows.forEach((row, i) => {
      offer(top, row, found.cosines[i] ?? 0)
    })
    const rest = allowed.filter((row) => ((this.rows.flags[row] ?? 0) & IN_GRAPH) === 0)
    await offerRows(this.rows, query, rest, top)
    return top
  }

  #bitmap(rows: number[]): Uint8Array {
    const bitmap = new Uint8Array(this.rows.end)
    for (const row of rows) bitmap[row] = 1
    return bitmap
  }

  #isLive(row: number): boolean {
    return ((this.rows.flags[row] ?? 0) & LIVE) !== 0
  }

  /** Stops a running build. The object is not used afterwards. */
  close(): void {
    this.#keeper.close()
  }
}
