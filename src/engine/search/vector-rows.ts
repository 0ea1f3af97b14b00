import {
  dotAt,
  fingerprint,
  offer,
  type RowFilter,
  rowsFrom,
  scanBlock,
  type TopRows,
  topRows,
  worstOfBest,
} from './scan.kernel.js'
import { Sketch } from './sketch.kernel.js'

/** Row holds a key that may be found. */
export const LIVE = 1
/** Row's vector is a point of the loaded graph. */
export const IN_GRAPH = 2
/** Row was handed to a graph build that has not been loaded yet. */
export const IN_BUILD = 4
/** Row is known from a loaded graph file; its vector has not come from the source yet. */
export const PENDING = 8

/** Rows of a block. Blocks never move, so a build thread may read them while rows are added. */
export const BLOCK_ROWS = 512
const NONE = -1
/** 16,384 rows of a scan take a few milliseconds: then others get their turn. */
const SCAN_BLOCKS_PER_TURN = 32
/** A millisecond and a half of sketches. */
const SKETCHED_ROWS_PER_TURN = 65_536
/** Rounding to half precision moves a fingerprint by less than this; different vectors are mostly further apart. */
const SAME_FINGERPRINT = 2e-3

/** Key of a graph point whose node is gone. */
export const DEAD = -1

/** The points of a graph, by position: its labels are row numbers. */
export interface GraphPoints {
  rows: Uint32Array
  keys: Float64Array
  docs: Float64Array
  fingerprints: Float32Array
}

/** A vector of one key, as it comes from a batch. */
export interface VectorEntry {
  key: number
  doc: number
  vector: Float32Array
}

/**
 * The vectors of one vector space: rows in shared blocks, a map from key to row and the rows of each document.
 *
 * A row never changes place while it lives. A dead row is used again only when neither the loaded graph nor a running
 * build knows it, because there row numbers are the labels.
 */
export class VectorRows {
  readonly dimension: number
  readonly blocks: Float32Array[] = []
  /** rows in use or used before; higher ones have never been written */
  end = 0
  live = 0
  /** live rows whose vectors are points of the loaded graph */
  graphLive = 0
  flags = new Uint8Array(BLOCK_ROWS)
  keys = new Float64Array(BLOCK_ROWS)
  docs = new Float64Array(BLOCK_ROWS)
  #next = new Int32Array(BLOCK_ROWS)
  #previous = new Int32Array(BLOCK_ROWS)
  #sketch: Sketch | undefined
  readonly #rowOfKey = new Map<number, number>()
  readonly #firstOfDoc = new Map<number, number>()
  readonly #free: number[] = []
  /** rows still to come from the source, with the fingerprints of their vectors */
  readonly #pending = new Map<number, number>()

  /** @param sketched whether to keep sketches as well, by which exact search is faster */
  constructor(dimension: number, sketched = true) {
    this.dimension = dimension
    this.#sketch = sketched ? Sketch.create(dimension) : undefined
  }

  /** Whether exact search is the fast one. */
  get sketched(): boolean {
    return this.#sketch !== undefined
  }

  /** The row of a live key. */
  rowOf(key: number): number | undefined {
    return this.#rowOfKey.get(key)
  }

  /** Whether the key's vector is here, not only its place. */
  has(key: number): boolean {
    const row = this.#rowOfKey.get(key)
    return row !== undefined && !this.#is(row, PENDING)
  }

  /** Sets the vector of a key. An equal vector keeps its row, and with it its place in the graph. */
  put(entry: VectorEntry): void {
    const known = this.#rowOfKey.get(entry.key)
    if (known !== undefined) {
      if (this.#matches(known, entry.vector)) {
        this.#write(known, entry)
        return
      }
      this.#kill(known)
    }
    const row = this.#free.pop() ?? this.#append()
    this.#write(row, entry)
  }

  /** Forgets a key; unknown keys are no error. */
  remove(key: number): void {
    const row = this.#rowOfKey.get(key)
    if (row !== undefined) this.#kill(row)
  }

  /** Takes the places of a graph file's points, before their vectors come. Only on an empty store. */
  reserve(points: GraphPoints): void {
    points.rows.forEach((row, i) => {
      while (this.end <= row) this.#append()
      this.flags[row] = IN_GRAPH
      const key = points.keys[i] ?? DEAD
      if (key === DEAD) return
      this.#link(row, key, points.docs[i] ?? 0)
      this.flags[row] = LIVE | IN_GRAPH | PENDING
      this.#pending.set(row, points.fingerprints[i] ?? Number.NaN)
      this.live++
      this.graphLive++
    })
    this.#collectFree()
  }

  /** What a graph of the rows with any of these flags holds; dead rows stand there with the key `DEAD`. */
  graphPoints(flags: number): GraphPoints {
    const rows: number[] = []
    for (let row = 0; row < this.end; row++) if (this.#is(row, flags)) rows.push(row)
    const known = (row: number) => this.#is(row, LIVE) && !this.#is(row, PENDING)
    return {
      rows: Uint32Array.from(rows),
      keys: Float64Array.from(rows, (row) => (known(row) ? (this.keys[row] ?? DEAD) : DEAD)),
      docs: Float64Array.from(rows, (row) => this.docs[row] ?? 0),
      fingerprints: Float32Array.from(rows, (row) => (known(row) ? this.#fingerprintOf(row) : 0)),
    }
  }

  /** Kills the rows whose vectors never came: their keys are gone from the source. */
  dropPending(): void {
    for (const row of [...this.#pending.keys()]) this.#kill(row)
  }

  get pending(): number {
    return this.#pending.size
  }

  /** Cosine of a row, or undefined while its vector has not come. */
  cosine(query: Float32Array, row: number): number | undefined {
    const block = this.blocks[Math.floor(row / BLOCK_ROWS)]
    if (block === undefined || this.#is(row, PENDING)) return undefined
    return dotAt(query, block, (row % BLOCK_ROWS) * this.dimension)
  }

  #fingerprintOf(row: number): number {
    const block = this.blocks[Math.floor(row / BLOCK_ROWS)]
    return block === undefined ? Number.NaN : fingerprint(block, (row % BLOCK_ROWS) * this.dimension, this.dimension)
  }

  /** Live rows of a document, newest first. */
  *rowsOfDoc(doc: number): Iterable<number> {
    for (let row = this.#firstOfDoc.get(doc) ?? NONE; row !== NONE; row = this.#next[row] ?? NONE) yield row
  }

  /**
   * The best `k` rows whose flags, masked, are `wanted`, by exact comparison of all that may be among them.
   *
   * @param allow rows that may be given; absent = all
   * @param turn awaited now and then, so that a long scan lets others in between
   */
  async scan(
    query: Float32Array,
    k: number,
    { mask, wanted, allow }: { mask: number; wanted: number; allow?: Uint8Array },
    turn: () => Promise<void>,
  ): Promise<TopRows> {
    const filter = { flags: this.flags, mask, wanted, ...(allow === undefined ? {} : { allow }) }
    const sketch = this.#sketch
    if (sketch === undefined) return this.#scanAll(query, k, filter, turn)
    const top = topRows(k)
    const { end } = this
    const scores = new Float32Array(end)
    let error = 0
    for (let first = 0; first < end; first += SKETCHED_ROWS_PER_TURN) {
      const last = Math.min(end, first + SKETCHED_ROWS_PER_TURN)
      error = Math.max(error, sketch.compare(query, first, last, scores))
      if (last < end) await turn()
    }
    const least = worstOfBest(scores, end, filter, k) - 2 * error
    for (const row of rowsFrom(scores, end, filter, least)) {
      const cosine = this.cosine(query, row)
      if (cosine !== undefined) offer(top, row, cosine)
    }
    return top
  }

  async #scanAll(query: Float32Array, k: number, filter: RowFilter, turn: () => Promise<void>): Promise<TopRows> {
    const top = topRows(k)
    for (let block = 0; block * BLOCK_ROWS < this.end; block++) {
      const rows = this.blocks[block]
      if (rows === undefined) break
      const first = block * BLOCK_ROWS
      scanBlock(query, rows, first, Math.min(BLOCK_ROWS, this.end - first), filter, top)
      if (block % SCAN_BLOCKS_PER_TURN === SCAN_BLOCKS_PER_TURN - 1) await turn()
    }
    return top
  }

  /** Rows a build may take: live, with their vectors. They are marked until `buildEnded`. */
  takeForBuild(skip: number): Uint32Array {
    const rows: number[] = []
    for (let row = 0; row < this.end; row++) {
      const flags = this.flags[row] ?? 0
      if ((flags & (LIVE | PENDING)) !== LIVE || (flags & skip) !== 0) continue
      this.flags[row] = flags | IN_BUILD
      rows.push(row)
    }
    return Uint32Array.from(rows)
  }

  /**
   * Ends a build.
   *
   * @param built what is in the graph now: `all` rows taken, those `added` to the graph before, or `none`
   */
  buildEnded(built: 'all' | 'added' | 'none'): void {
    this.graphLive = 0
    for (let row = 0; row < this.end; row++) {
      const flags = this.flags[row] ?? 0
      const inBuild = (flags & IN_BUILD) !== 0
      let next = flags & ~IN_BUILD
      if (built === 'all') next = inBuild ? next | IN_GRAPH : next & ~IN_GRAPH
      if (built === 'added' && inBuild) next |= IN_GRAPH
      this.flags[row] = next
      if ((next & (LIVE | IN_GRAPH)) === (LIVE | IN_GRAPH)) this.graphLive++
    }
    this.#collectFree()
  }

  #collectFree(): void {
    this.#free.length = 0
    for (let row = 0; row < this.end; row++) if (this.flags[row] === 0) this.#free.push(row)
  }

  #is(row: number, flag: number): boolean {
    return ((this.flags[row] ?? 0) & flag) !== 0
  }

  #matches(row: number, vector: Float32Array): boolean {
    const expected = this.#pending.get(row)
    if (expected !== undefined) return Math.abs(fingerprint(vector, 0, this.dimension) - expected) < SAME_FINGERPRINT
    const block = this.blocks[Math.floor(row / BLOCK_ROWS)]
    const offset = (row % BLOCK_ROWS) * this.dimension
    return block !== undefined && vector.every((value, i) => value === block[offset + i])
  }

  #append(): number {
    const row = this.end++
    if (row % BLOCK_ROWS === 0) {
      const bytes = BLOCK_ROWS * this.dimension * Float32Array.BYTES_PER_ELEMENT
      this.blocks.push(new Float32Array(new SharedArrayBuffer(bytes)))
    }
    if (row >= this.flags.length) this.#grow()
    return row
  }

  #grow(): void {
    const length = this.flags.length * 2
    const grown = <T extends { set(from: T): void }>(from: T, to: T): T => {
      to.set(from)
      return to
    }
    this.flags = grown(this.flags, new Uint8Array(length))
    this.keys = grown(this.keys, new Float64Array(length))
    this.docs = grown(this.docs, new Float64Array(length))
    this.#next = grown(this.#next, new Int32Array(length))
    this.#previous = grown(this.#previous, new Int32Array(length))
  }

  #write(row: number, entry: VectorEntry): void {
    this.blocks[Math.floor(row / BLOCK_ROWS)]?.set(entry.vector, (row % BLOCK_ROWS) * this.dimension)
    this.#sketchRow(row, entry.vector)
    if (this.#is(row, LIVE)) {
      this.#unlink(row)
      this.live--
    }
    this.#link(row, entry.key, entry.doc)
    this.flags[row] = ((this.flags[row] ?? 0) & ~PENDING) | LIVE
    this.#pending.delete(row)
    this.live++
  }

  #sketchRow(row: number, vector: Float32Array): void {
    try {
      this.#sketch?.set(row, vector)
    } catch {
      // No memory for more sketches: from here on all is compared in full, or by a graph.
      this.#sketch = undefined
    }
  }

  #kill(row: number): void {
    this.#unlink(row)
    this.#rowOfKey.delete(this.keys[row] ?? NONE)
    this.#pending.delete(row)
    this.flags[row] = (this.flags[row] ?? 0) & ~(LIVE | PENDING)
    this.live--
    if (this.#is(row, IN_GRAPH)) this.graphLive--
    if (!this.#is(row, IN_GRAPH | IN_BUILD)) this.#free.push(row)
  }

  #link(row: number, key: number, doc: number): void {
    const first = this.#firstOfDoc.get(doc) ?? NONE
    this.keys[row] = key
    this.docs[row] = doc
    this.#rowOfKey.set(key, row)
    this.#next[row] = first
    this.#previous[row] = NONE
    if (first !== NONE) this.#previous[first] = row
    this.#firstOfDoc.set(doc, row)
  }

  #unlink(row: number): void {
    const doc = this.docs[row] ?? 0
    const next = this.#next[row] ?? NONE
    const previous = this.#previous[row] ?? NONE
    if (next !== NONE) this.#previous[next] = previous
    if (previous !== NONE) this.#next[previous] = next
    else if (next !== NONE) this.#firstOfDoc.set(doc, next)
    else this.#firstOfDoc.delete(doc)
  }
}
