import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { syncPath } from '../../local/file-system.js'
import { VectorGraph } from './graph.js'
import { buildGraph } from './graph-build.js'
import { encodePoints, graphDirectory, listGraphs, makeBuildDirectory } from './graph-files.js'
import { readGraphVectors } from './graph-vectors.js'
import { BLOCK_ROWS, IN_BUILD, IN_FILE, type VectorRows } from './vector-rows.js'

/** Thresholds that tests may lower. */
export interface GraphLimits {
  /** minimal number of live vectors for a graph */
  graphFrom: number
  /** new or dead vectors that trigger a rebuild at once, even where they are fewer than a fifth */
  staleFrom: number
  /** idle time after which a smaller remainder is added to the graph */
  settleMs: number
}

/** Comparing this many sketches takes about 1 ms at 384 dimensions, less than a graph saves and costs. */
const MIN_GRAPH_VECTORS_SKETCHED = 40_000
/** Without sketches, comparing 8,000 vectors takes about 3 ms. */
const MIN_GRAPH_VECTORS = 8_000
const MIN_STALE_VECTORS = 5_000
const IDLE_MS = 500
const STALE_FRACTION = 0.2
/** Up to this fraction of `staleFrom`, new vectors are added to the graph in memory; above it, the file is rebuilt. */
const MAX_ADDED_FRACTION = 0.4
/** Duration of adding points before the event loop gets a turn, and of the pause after it. */
const ADD_SLICE_MS = 1
const ADD_PAUSE_MS = 5
/** Delay after a failed build. */
const RETRY_BUILD_MS = 60_000

export interface GraphKeeperOptions {
  dir: string
  vectorSpace: string
  limits?: Partial<GraphLimits>
  log: (message: string) => void
  /** called when a build begins and ends: only native build code can crash the process outside of a request */
  onBuild?: (running: boolean) => void
}

/** Maintains the graph of a row store: loads it, detects when it is stale, and rebuilds it in a background thread. */
export class GraphKeeper {
  graph: VectorGraph | undefined
  readonly #rows: VectorRows
  readonly #options: GraphKeeperOptions
  readonly #limits: GraphLimits
  #stopBuild: (() => void) | undefined
  #building = false
  #retryAt = 0
  #quietTimer: NodeJS.Timeout | undefined
  #addTimer: NodeJS.Timeout | undefined
  #closed = false

  constructor(rows: VectorRows, options: GraphKeeperOptions) {
    this.#rows = rows
    this.#options = options
    const graphFrom = rows.sketch === undefined ? MIN_GRAPH_VECTORS : MIN_GRAPH_VECTORS_SKETCHED
    this.#limits = { graphFrom, staleFrom: MIN_STALE_VECTORS, settleMs: IDLE_MS, ...options.limits }
  }

  /** Graph points whose vectors were removed or replaced. */
  get deadPoints(): number {
    return this.graph === undefined ? 0 : this.graph.points - this.#rows.graphLive
  }

  /**
   * Loads a matching graph file into an empty store. Its points stay pending until their vectors arrive or the source
   * confirms those of the file.
   *
   * @returns the number of vectors in the file
   */
  async load(): Promise<number> {
    const { dir, vectorSpace, log } = this.#options
    let filledCount = 0
    for (const { path, build } of await listGraphs(dir, vectorSpace)) {
      const graph = await VectorGraph.load(path, build, vectorSpace, this.#rows.dimension).catch((error: unknown) => {
        log(`a graph file was ignored: ${String(error)}`)
      })
      if (graph !== undefined && this.graph === undefined && this.#rows.end === 0) {
        this.#rows.reserve(graph.files.points)
        this.graph = graph
        filledCount = await this.#fill(graph)
      } else await rm(path, { recursive: true, force: true })
    }
    return filledCount
  }

  async #fill(graph: VectorGraph): Promise<number> {
    let filledCount = 0
    try {
      await readGraphVectors(graph.files.path, this.#rows.dimension, (row, vector) => {
        if (this.#rows.fill(row, vector)) filledCount++
      })
    } catch (error) {
      // the source sends them instead
      this.#options.log(`the vectors of a graph file were not read: ${String(error)}`)
      return 0
    }
    return filledCount
  }

  /** Starts a build when the graph is missing or too stale. */
  buildIfStale(): void {
    if (this.#building || this.#closed || performance.now() < this.#retryAt) return
    const { live, graphLive, fileLive } = this.#rows
    if (live < this.#limits.graphFrom) return
    if (this.graph === undefined) {
      this.#startBuild()
      return
    }
    const stale = Math.max(this.#limits.staleFrom, STALE_FRACTION * live)
    const rest = live - graphLive
    if (this.deadPoints > stale) this.#startBuild()
    else if (live - fileLive > stale) this.#startBuild(this.graph)
    else {
      const small = MAX_ADDED_FRACTION * this.#limits.staleFrom
      if (live - fileLive > small) this.#buildWhenQuiet()
      if (rest > 0 && rest <= small) this.#addPointsSoon()
    }
  }

  /**
   * Adds rows outside of the graph to it, a few at a time. The graph file does not have them: a restart adds them
   * again.
   */
  #addPointsSoon(): void {
    this.#addTimer ??= setTimeout(() => {
      this.#addTimer = undefined
      try {
        this.#addSomePoints()
        this.buildIfStale()
      } catch (error) {
        this.#retryAt = performance.now() + RETRY_BUILD_MS
        this.#options.log(`vectors were not added to a graph and are compared one by one: ${String(error)}`)
      }
    }, ADD_PAUSE_MS).unref()
  }

  #addSomePoints(): void {
    const { graph } = this
    // a running build has chosen its points: rows added to the old graph now would be outside of the new one
    if (graph === undefined || this.#building || this.#closed) return
    const runs = this.#rows.outsideRuns()
    const vector = new Array<number>(this.#rows.dimension).fill(0)
    const until = performance.now() + ADD_SLICE_MS
    for (let i = 0; i < runs.length; i += 2) {
      for (let row = runs[i] ?? 0; row < (runs[i + 1] ?? 0); row++) {
        this.#rows.readInto(row, vector)
        graph.add(row, vector)
        this.#rows.markInGraph(row)
        if (performance.now() > until) return
      }
    }
  }

  #buildWhenQuiet(): void {
    clearTimeout(this.#quietTimer)
    this.#quietTimer = setTimeout(() => {
      if (!this.#building && !this.#closed && this.graph !== undefined) this.#startBuild(this.graph)
    }, this.#limits.settleMs)
    this.#quietTimer.unref()
  }

  #startBuild(base?: VectorGraph): void {
    this.#building = true
    this.#options.onBuild?.(true)
    this.#build(base)
      .catch((error: unknown) => {
        this.#rows.endBuild('none')
        this.#retryAt = performance.now() + RETRY_BUILD_MS
        if (!this.#closed) this.#options.log(`building a graph failed, search compares all vectors: ${String(error)}`)
      })
      .finally(() => {
        this.#building = false
        this.#stopBuild = undefined
        this.#options.onBuild?.(false)
        this.buildIfStale()
      })
  }

  async #build(base: VectorGraph | undefined): Promise<void> {
    const { dir, vectorSpace } = this.#options
    const { dimension } = this.#rows
    const buildNumber = (this.graph?.build ?? 0) + 1
    const temporary = await makeBuildDirectory(dir, vectorSpace, buildNumber)
    try {
      const rows = this.#rows.takeForBuild(base === undefined ? 0 : IN_FILE)
      const points = encodePoints(this.#rows.graphPoints(base === undefined ? IN_BUILD : IN_BUILD | IN_FILE))
      const job = {
        dir: temporary,
        vectorSpace,
        dimension,
        blockRows: BLOCK_ROWS,
        blocks: this.#rows.blocks,
        rows,
        points,
      }
      const { done, stop } = buildGraph(
        base === undefined ? job : { ...job, base: { path: base.files.path, facts: base.files.facts } },
      )
      this.#stopBuild = stop
      await done
      const directory = join(dir, graphDirectory(vectorSpace, buildNumber))
      await rm(directory, { recursive: true, force: true })
      await rename(temporary, directory)
      await syncPath(dir)
      const graph = await VectorGraph.load(directory, buildNumber, vectorSpace, dimension)
      if (this.#closed) return
      const previous = this.graph
      this.graph = graph
      this.#rows.endBuild(base === undefined ? 'all' : 'added')
      if (previous !== undefined) await rm(previous.directory, { recursive: true, force: true })
    } finally {
      await rm(temporary, { recursive: true, force: true })
    }
  }

  /** Stops a running build. The object must not be used afterwards. */
  close(): void {
    this.#closed = true
    clearTimeout(this.#quietTimer)
    clearTimeout(this.#addTimer)
    this.#stopBuild?.()
  }
}
