import { crc32 } from 'node:zlib'
import { DocLists } from './doc-lists.js'
import { DEAD_KEY, type GraphPoints, type VectorEntry } from './graph-points.js'
import { computeFingerprint, dotProduct, equalsRow, readRow, writeRow } from './scan.kernel.js'
import { Sketch } from './sketch.kernel.js'

/** Row has a key that may be returned. */
export const LIVE = 1
/** Row's vector is a point of the loaded graph. */
export const IN_GRAPH = 2
/** Row was passed to a graph build that is not loaded yet. */
export const IN_BUILD = 4
/** Row is known from a graph file; the source has not sent or confirmed its vector yet. */
export const PENDING = 8
/** Row's vector is also a point in the graph's file; points added later exist only in memory. */
export const IN_FILE = 16

/** Maximal number of rows of a run: comparing their sketches takes 1.5 ms. */
export const MAX_RUN_ROWS = 65_536

/** Rows per block. Blocks never move, so a build thread may read them while rows are added. */
export const BLOCK_ROWS = 512
const NONE = -1
/** Tolerance of single-precision fingerprints; those of different vectors mostly differ by more. */
const FINGERPRINT_TOLERANCE = 1e-3

/**
 * The vectors of one vector space: rows in shared blocks, a map from key to row and the rows of each document.
 *
 * A row keeps its number while it lives. A dead row is reused only when neither the loaded graph nor a running build
 * knows it, because row numbers are their labels.
 */
export class VectorRows {
  readonly dimension: number
  readonly blocks: Uint16Array[] = []
  /** number of rows used so far; higher ones have never been written */
  end = 0
  live = 0
  /** number of live rows whose vectors are points of the loaded graph */
  graphLive = 0
  /** number of live rows whose vectors are in the file of the loaded graph */
  fileLive = 0
  flags = new Uint8Array(BLOCK_ROWS)
  keys = new Float64Array(BLOCK_ROWS)
  /** makes exact search fast; undefined where the platform has no vector instructions */
  sketch: Sketch | undefined
  readonly #docs = new DocLists()
  readonly #scratch: Float32Array
  readonly #rowOfKey = new Map<number, number>()
  readonly #free: number[] = []
  /** pending rows, with the fingerprints of their vectors */
  readonly #pending = new Map<number, number>()
  /** pending rows whose vectors are in a graph file */
  readonly #filled = new Set<number>()
  /** by block, the number of comparable rows outside of the graph */
  readonly #outside: number[] = []
  #runs: Uint32Array | undefined

  constructor(dimension: number, { isSketched = true } = {}) {
    this.dimension = dimension
    this.#scratch = new Float32Array(dimension)
    this.sketch = isSketched ? Sketch.create(dimension) : undefined
  }

  /** The row of a live key. */
  rowOf(key: number): number | undefined {
    return this.#rowOfKey.get(key)
  }

  /** Whether the key's vector is loaded, not only its row reserved. */
  hasVector(key: number): boolean {
    const row = this.#rowOfKey.get(key)
    return row !== undefined && !this.#hasFlag(row, PENDING)
  }

  /** Sets the vector of a key. An equal vector keeps its row, and its point in the graph. */
  put(entry: VectorEntry): void {
    const known = this.#rowOfKey.get(entry.key)
    if (known !== undefined) {
      if (this.#matches(known, entry.vector)) {
        this.#write(known, entry)
        return
      }
      this.#removeRow(known)
    }
    const row = this.#free.pop() ?? this.#append()
    this.#write(row, entry)
  }

  /** Removes a key; unknown keys are ignored. */
  remove(key: number): void {
    const row = this.#rowOfKey.get(key)
    if (row !== undefined) this.#removeRow(row)
  }

  /** Reserves rows for the points of a graph file, before their vectors arrive. Requires an empty store. */
  reserve(points: GraphPoints): void {
    points.rows.forEach((row, i) => {
      while (this.end <= row) this.#append()
      this.flags[row] = IN_GRAPH | IN_FILE
      const key = points.keys[i] ?? DEAD_KEY
      if (key === DEAD_KEY) return
      this.#link(row, key, points.docs[i] ?? 0)
      this.#setFlags(row, LIVE | IN_GRAPH | IN_FILE | PENDING)
      this.#pending.set(row, points.fingerprints[i] ?? Number.NaN)
      this.live++
    })
    this.#collectFree()
  }

  /** Writes the vector of a graph file's point; it is not live until confirmed. @returns whether its row is pending */
  fill(row: number, vector: Float32Array): boolean {
    const block = this.blocks[Math.floor(row / BLOCK_ROWS)]
    if (block === undefined || !this.#hasFlag(row, PENDING)) return false
    writeRow(vector, block, (row % BLOCK_ROWS) * this.dimension)
    this.#filled.add(row)
    return true
  }

  /** Accepts the vector of a graph file for a key. @returns whether there was one with this checksum */
  confirm(key: number, doc: number, sum: number): boolean {
    const row = this.#rowOfKey.get(key)
    if (row === undefined || !this.#filled.has(row) || !this.#hasFlag(row, PENDING)) return false
    const block = this.blocks[Math.floor(row / BLOCK_ROWS)]
    if (block === undefined) return false
    const { buffer, byteOffset, BYTES_PER_ELEMENT } = block
    const from = byteOffset + (row % BLOCK_ROWS) * this.dimension * BYTES_PER_ELEMENT
    if (crc32(new Uint8Array(buffer, from, this.dimension * BYTES_PER_ELEMENT)) !== sum) return false
    this.#settle(row, key, doc)
    return true
  }

  /** Points of a graph of the rows with any of these flags; dead rows have the key `DEAD_KEY`. */
  graphPoints(flags: number): GraphPoints {
    const rows: number[] = []
    for (let row = 0; row < this.end; row++) if (this.#hasFlag(row, flags)) rows.push(row)
    const known = (row: number) => this.#hasFlag(row, LIVE) && !this.#hasFlag(row, PENDING)
    return {
      rows: Uint32Array.from(rows),
      keys: Float64Array.from(rows, (row) => (known(row) ? (this.keys[row] ?? DEAD_KEY) : DEAD_KEY)),
      docs: Float64Array.from(rows, (row) => this.#docs.docOf(row)),
      fingerprints: Float32Array.from(rows, (row) => (known(row) ? computeFingerprint(this.#read(row)) : 0)),
    }
  }

  /** Removes the rows whose vectors never arrived: the source no longer has their keys. */
  dropPending(): void {
    for (const row of [...this.#pending.keys()]) this.#removeRow(row)
  }

  get pending(): number {
    return this.#pending.size
  }

  /** Cosine of a row; undefined while its vector is pending. */
  cosine(query: Float32Array, row: number): number | undefined {
    const block = this.blocks[Math.floor(row / BLOCK_ROWS)]
    if (block === undefined || this.#hasFlag(row, PENDING)) return undefined
    return dotProduct(query, block, (row % BLOCK_ROWS) * this.dimension)
  }

  /** Reads the vector of a row into an array that the next call reuses. */
  #read(row: number): Float32Array {
    const block = this.blocks[Math.floor(row / BLOCK_ROWS)]
    if (block !== undefined) readRow(block, (row % BLOCK_ROWS) * this.dimension, this.#scratch)
    return this.#scratch
  }

  /** Live rows of a document, newest first. */
  rowsOfDoc(doc: number): Iterable<number> {
    return this.#docs.rowsOf(doc)
  }

  /** Takes the rows of a build: live, with their vectors. They are marked until `endBuild`. */
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
   * @param built content of the new graph: `all` taken rows, those `added` to the previous graph, or `none`
   */
  endBuild(built: 'all' | 'added' | 'none'): void {
    for (let row = 0; row < this.end; row++) {
      const flags = this.flags[row] ?? 0
      const inBuild = (flags & IN_BUILD) !== 0
      let next = flags & ~IN_BUILD
      if (built === 'all') next &= ~IN_FILE
      if (built !== 'none') {
        if (inBuild) next |= IN_FILE
        // the new graph equals its file: points added to the previous graph meanwhile are outside again
        next = (next & IN_FILE) === 0 ? next & ~IN_GRAPH : next | IN_GRAPH
      }
      this.#setFlags(row, next)
    }
    this.#collectFree()
  }

  #collectFree(): void {
    this.#free.length = 0
    for (let row = 0; row < this.end; row++) if (this.flags[row] === 0) this.#free.push(row)
  }

  /** Marks the row's vector as a point of the graph in memory. */
  markInGraph(row: number): void {
    this.#setFlags(row, (this.flags[row] ?? 0) | IN_GRAPH)
  }

  /** Runs of comparable rows outside of the graph, as pairs of start and end (exclusive). */
  outsideRuns(): Uint32Array {
    if (this.#runs !== undefined) return this.#runs
    const runs: number[] = []
    for (const [block, count] of this.#outside.entries()) {
      const from = block * BLOCK_ROWS
      for (let row = from; count > 0 && row < Math.min(from + BLOCK_ROWS, this.end); row++) {
        if (!isOutside(this.flags[row] ?? 0)) continue
        const extendsRun = runs.at(-1) === row && row - (runs.at(-2) ?? 0) < MAX_RUN_ROWS
        if (extendsRun) runs[runs.length - 1] = row + 1
        else runs.push(row, row + 1)
      }
    }
    this.#runs = Uint32Array.from(runs)
    return this.#runs
  }

  /** Copies a vector into an array of numbers. */
  readInto(row: number, into: number[]): void {
    const block = this.blocks[Math.floor(row / BLOCK_ROWS)]
    if (block !== undefined) readRow(block, (row % BLOCK_ROWS) * this.dimension, into)
  }

  #setFlags(row: number, next: number): void {
    const before = this.flags[row] ?? 0
    this.flags[row] = next
    this.graphLive += hasAllFlags(next, LIVE | IN_GRAPH) - hasAllFlags(before, LIVE | IN_GRAPH)
    this.fileLive += hasAllFlags(next, LIVE | IN_FILE) - hasAllFlags(before, LIVE | IN_FILE)
    const more = Number(isOutside(next)) - Number(isOutside(before))
    if (more === 0) return
    const block = Math.floor(row / BLOCK_ROWS)
    this.#outside[block] = (this.#outside[block] ?? 0) + more
    this.#runs = undefined
  }

  #hasFlag(row: number, flag: number): boolean {
    return ((this.flags[row] ?? 0) & flag) !== 0
  }

  #matches(row: number, vector: VectorEntry['vector']): boolean {
    const expected = this.#pending.get(row)
    if (expected !== undefined)
      return Math.abs(computeFingerprint(this.#toFloats(vector)) - expected) < FINGERPRINT_TOLERANCE
    const block = this.blocks[Math.floor(row / BLOCK_ROWS)]
    return block !== undefined && equalsRow(vector, block, (row % BLOCK_ROWS) * this.dimension)
  }

  /** Converts a vector to float32; float16 vectors are converted into an array that the next call reuses. */
  #toFloats(vector: VectorEntry['vector']): Float32Array {
    if (vector instanceof Float32Array) return vector
    readRow(vector, 0, this.#scratch)
    return this.#scratch
  }

  #append(): number {
    const row = this.end++
    if (row % BLOCK_ROWS === 0) {
      const bytes = BLOCK_ROWS * this.dimension * Uint16Array.BYTES_PER_ELEMENT
      this.blocks.push(new Uint16Array(new SharedArrayBuffer(bytes)))
      this.#outside.push(0)
    }
    if (row >= this.flags.length) this.#grow()
    return row
  }

  #grow(): void {
    const flags = new Uint8Array(this.flags.length * 2)
    const keys = new Float64Array(this.keys.length * 2)
    flags.set(this.flags)
    keys.set(this.keys)
    this.flags = flags
    this.keys = keys
  }

  #write(row: number, entry: VectorEntry): void {
    const block = this.blocks[Math.floor(row / BLOCK_ROWS)]
    if (block !== undefined) writeRow(entry.vector, block, (row % BLOCK_ROWS) * this.dimension)
    this.#settle(row, entry.key, entry.doc)
  }

  /** Makes the row live: its vector is there. */
  #settle(row: number, key: number, doc: number): void {
    this.#sketchRow(row)
    if (this.#hasFlag(row, LIVE)) {
      this.#docs.remove(row)
      this.live--
    }
    this.#link(row, key, doc)
    this.#setFlags(row, ((this.flags[row] ?? 0) & ~PENDING) | LIVE)
    this.#pending.delete(row)
    this.#filled.delete(row)
    this.live++
  }

  #sketchRow(row: number): void {
    try {
      this.sketch?.set(row, this.#read(row))
    } catch {
      // no memory for more sketches: comparisons are exact from now on, or use a graph
      this.sketch = undefined
    }
  }

  #removeRow(row: number): void {
    this.#docs.remove(row)
    this.#rowOfKey.delete(this.keys[row] ?? NONE)
    this.#pending.delete(row)
    this.#filled.delete(row)
    this.#setFlags(row, (this.flags[row] ?? 0) & ~(LIVE | PENDING))
    this.live--
    if (!this.#hasFlag(row, IN_GRAPH | IN_BUILD | IN_FILE)) this.#free.push(row)
  }

  #link(row: number, key: number, doc: number): void {
    this.keys[row] = key
    this.#rowOfKey.set(key, row)
    this.#docs.add(row, doc)
  }
}

function isOutside(flags: number): boolean {
  return (flags & (LIVE | PENDING | IN_GRAPH)) === LIVE
}

function hasAllFlags(flags: number, required: number): number {
  return (flags & required) === required ? 1 : 0
}
