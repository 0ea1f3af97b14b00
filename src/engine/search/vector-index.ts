import { BACKGROUND_SAMPLES, type CosineBackground, clampCosine, computeBackground } from './background.js'
import { offerRows, offerRowsOutside, scanRows } from './exact-scan.js'
import type { VectorGraph } from './graph.js'
import { GraphKeeper, type GraphKeeperOptions } from './graph-keeper.js'
import type { VectorEntry } from './graph-points.js'
import type { DocumentScope } from './ports.js'
import type { VectorOrigin } from './protocol.js'
import { createTopRows, offerRow, type TopRows } from './scan.kernel.js'
import { IN_GRAPH, LIVE, PENDING, VectorRows } from './vector-rows.js'

/** Number of allowed rows up to which a filtered search does not use the graph. */
const MAX_EXACT_FILTERED_ROWS = 20_000
/** Fraction of allowed rows from which a graph search with a filter is faster than comparing them. */
const MIN_GRAPH_FILTER_FRACTION = 0.3
/** Number of allowed rows up to which they are compared one by one; more are selected by the sketches of all rows. */
const MAX_LISTED_ROWS = 2_000
/** A full comparison of a row costs as much as this many sketches. */
const SKETCHES_PER_COMPARISON = 16

export interface VectorIndexOptions extends GraphKeeperOptions {
  dimension: number
  /** `false` = compare exactly, without vector instructions */
  isSketched?: boolean
}

export interface VectorIndexHits {
  keys: number[]
  method: 'exact' | 'hnsw'
}

/** Vectors of one vector space of one space: exact rows, and above a size a graph built in the background. */
export class VectorIndex {
  readonly rows: VectorRows
  loading = false
  readonly #keeper: GraphKeeper
  /** keys removed during the replay: a late batch must not restore them */
  readonly #removed = new Set<number>()

  constructor(options: VectorIndexOptions) {
    this.rows = new VectorRows(options.dimension, options)
    this.#keeper = new GraphKeeper(this.rows, options)
  }

  get #graph(): VectorGraph | undefined {
    return this.#keeper.graph
  }

  get graphCount(): number {
    return this.#graph === undefined ? 0 : this.rows.graphLive
  }

  /** Graph points whose vectors were removed or replaced. */
  get deadGraphPoints(): number {
    return this.#keeper.deadPoints
  }

  /** Number of vectors that can be compared now. */
  get count(): number {
    return this.rows.live - this.rows.pending
  }

  /**
   * Begins to receive the source's vectors. A matching graph file is used again; its points stay pending until their
   * vectors arrive or the source confirms those of the file.
   *
   * @returns the number of vectors in a graph file
   */
  async beginLoad(): Promise<number> {
    this.loading = true
    return this.rows.end === 0 ? await this.#keeper.load() : 0
  }

  /** Accepts vectors of a graph file where the source has equal ones. @returns keys that have to be sent */
  confirm(keys: Float64Array, docs: Float64Array, sums: Uint32Array): Float64Array {
    return keys.filter((key, i) => {
      if (this.#removed.has(key) || this.rows.hasVector(key)) return false
      return !this.rows.confirm(key, docs[i] ?? 0, sums[i] ?? 0)
    })
  }

  /** Ends the replay: all vectors of the source have arrived. */
  endLoad(): void {
    this.loading = false
    this.#removed.clear()
    this.rows.dropPending()
    this.#keeper.buildIfStale()
  }

  /** Sets vectors; those of a replay do not replace newer changes. */
  put(entries: Iterable<VectorEntry>, origin: VectorOrigin): void {
    for (const entry of entries) {
      if (origin === 'replay' && (this.rows.hasVector(entry.key) || this.#removed.has(entry.key))) continue
      if (origin === 'change') this.#removed.delete(entry.key)
      this.rows.put(entry)
    }
    if (!this.loading) this.#keeper.buildIfStale()
  }

  remove(keys: Iterable<number>): void {
    for (const key of keys) {
      if (this.loading) this.#removed.add(key)
      this.rows.remove(key)
    }
    if (!this.loading) this.#keeper.buildIfStale()
  }

  /** Exact cosine of a key; undefined without its vector. */
  cosine(query: Float32Array, key: number): number | undefined {
    const row = this.rows.rowOf(key)
    const cosine = row === undefined ? undefined : this.rows.cosine(query, row)
    return cosine === undefined ? undefined : clampCosine(cosine)
  }

  /**
   * Cosines of a query with rows at even distances, independent of their content.
   *
   * @param scope uses only rows of these documents; absent = all
   * @returns undefined for too few rows
   */
  background(query: Float32Array, scope?: DocumentScope): CosineBackground | undefined {
    const listed = scope === undefined ? undefined : this.#rowsOf(undefined, scope)
    const end = listed?.length ?? this.rows.end
    const step = Math.max(1, Math.floor(end / BACKGROUND_SAMPLES))
    const cosines: number[] = []
    for (let index = 0; index < end && cosines.length < BACKGROUND_SAMPLES; index += step) {
      const row = listed === undefined ? index : (listed[index] ?? 0)
      const cosine = this.#isLive(row) ? this.rows.cosine(query, row) : undefined
      if (cosine !== undefined) cosines.push(cosine)
    }
    return computeBackground(cosines)
  }

  /**
   * The keys of the `k` nearest vectors, unordered.
   *
   * @param docs only nodes of these documents; absent = all
   * @param scope only nodes of this scope; absent = all
   */
  async search(
    query: Float32Array,
    k: number,
    docs?: readonly number[],
    scope?: DocumentScope,
  ): Promise<VectorIndexHits> {
    const isLimited = docs !== undefined || scope !== undefined
    const { top, method } = isLimited
      ? await this.#searchFiltered(query, k, this.#rowsOf(docs, scope))
      : await this.#searchAll(query, k)
    const keys: number[] = []
    for (const row of top.rows.subarray(0, top.size)) {
      const key = this.rows.keys[row]
      if (key !== undefined && ((this.rows.flags[row] ?? 0) & LIVE) !== 0) keys.push(key)
    }
    return { keys, method }
  }

  async #searchAll(query: Float32Array, k: number): Promise<{ top: TopRows; method: VectorIndexHits['method'] }> {
    const { rows } = this
    if (this.#graph === undefined) {
      return { top: await scanRows(rows, query, k, { mask: LIVE | PENDING, wanted: LIVE }), method: 'exact' }
    }
    const top = createTopRows(k)
    this.#offerNearest(this.#graph, query, k, top)
    if (rows.live > rows.graphLive) await offerRowsOutside(rows, query, top)
    return { top, method: 'hnsw' }
  }

  /** Requests more points the more of them are dead, until `k` live ones are found or the graph has no more. */
  #offerNearest(graph: VectorGraph, query: Float32Array, k: number, top: TopRows): void {
    const points = graph.points
    if (points === 0) return
    const dead = this.deadGraphPoints
    let requested = Math.min(points, k + Math.ceil((2 * k * dead) / points))
    for (;;) {
      const found = graph.nearest(query, requested)
      const live = found.rows.filter((row) => this.#isLive(row)).length
      if (live >= Math.min(k, this.rows.graphLive) || requested === points || found.rows.length < requested) {
        found.rows.forEach((row, i) => {
          if (this.#isLive(row)) offerRow(top, row, found.cosines[i] ?? 0)
        })
        return
      }
      requested = Math.min(points, requested * 2)
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

  async #searchFiltered(query: Float32Array, k: number, allowed: number[]) {
    const useGraph =
      allowed.length > MAX_EXACT_FILTERED_ROWS && allowed.length > MIN_GRAPH_FILTER_FRACTION * this.rows.live
    if (this.#graph !== undefined && useGraph) {
      return { top: await this.#searchFilteredByGraph(this.#graph, query, k, allowed), method: 'hnsw' as const }
    }
    if (
      allowed.length <= MAX_LISTED_ROWS ||
      allowed.length * SKETCHES_PER_COMPARISON < this.rows.end ||
      this.rows.sketch === undefined
    ) {
      const top = createTopRows(k)
      await offerRows(this.rows, query, allowed, top)
      return { top, method: 'exact' as const }
    }
    const filter = { mask: LIVE | PENDING, wanted: LIVE, allow: this.#bitmap(allowed) }
    return { top: await scanRows(this.rows, query, k, filter), method: 'exact' as const }
  }

  async #searchFilteredByGraph(
    graph: VectorGraph,
    query: Float32Array,
    k: number,
    allowed: number[],
  ): Promise<TopRows> {
    const top = createTopRows(k)
    const allow = this.#bitmap(allowed)
    const found = graph.nearest(query, Math.min(k, graph.points), (row) => allow[row] === 1)
    found.rows.forEach((row, i) => {
      offerRow(top, row, found.cosines[i] ?? 0)
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

  /** Stops a running build. The object must not be used afterwards. */
  close(): void {
    this.#keeper.close()
  }
}
