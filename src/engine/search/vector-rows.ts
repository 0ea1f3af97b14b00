import { crc32 } from 'node:zlib'
import { DocLists } from './doc-lists.js'
import { DEAD, type GraphPoints, type VectorEntry } from './graph-points.js'
import { dotAt, equalsRow, fingerprint, readRow, writeRow } from './scan.kernel.js'
import { Sketch } from './sketch.kernel.js'

/** Row holds a key that may be found. */
export const LIVE = 1
/** Row's vector is a point of the loaded graph. */
export const IN_GRAPH = 2
/** Row was handed to a graph build that has not been loaded yet. */
export const IN_BUILD = 4
/** Row is known from a loaded graph file; its vector has not come from the source yet. */
export const PENDING = 8
/** Row's vector is a point of the graph's file too; one that was taken in since is only in memory. */
export const IN_FILE = 16

/** Rows of one run at most: comparing their sketches takes a millisecond and a half. */
export const RUN_ROWS = 65_536

/** Rows of a block. Blocks never move, so a build thread may read them while rows are added. */
export const BLOCK_ROWS = 512
const NONE = -1
/** Fingerprints are kept in single precision; those of different vectors are mostly further apart. */
const SAME_FINGERPRINT = 1e-3

/**
 * The vectors of one vector space: rows in shared blocks, a map from key to row and the rows of each document.
 *
 * A row never changes place while it lives. A dead row is used again only when neither the loaded graph nor a running
 * build knows it, because there row numbers are the labels.
 */
export class VectorRows {
  readonly dimension: number
  readonly blocks: Uint16Array[] = []
  /** rows in use or used before; higher ones have never been written */
  end = 0
  live = 0
  /** live rows whose vectors are points of the loaded graph */
  graphLive = 0
  /** live rows whose vectors are in the file of the loaded graph */
  fileLive = 0
  flags = new Uint8Array(BLOCK_ROWS)
  keys = new Float64Array(BLOCK_ROWS)
  /** by which exact search is fast; absent where the platform has no vector instructions */
  sketch: Sketch | undefined
  readonly #docs = new DocLists()
  readonly #scratch: Float32Array
  readonly #rowOfKey = new Map<number, number>()
  readonly #free: number[] = []
  /** rows still to come from the source, with the fingerprints of their vectors */
  readonly #pending = new Map<number, number>()
  /** of those, the ones whose vectors a graph's file brought */
  readonly #filled = new Set<number>()
  /** of each block, rows that can be compared and are not in the graph */
  readonly #outside: number[] = []
  #runs: Uint32Array | undefined

  /** @param sketched whether to keep sketches as well */
  constructor(dimension: number, sketched = true) {
    this.dimension = dimension
    this.#scratch = new Float32Array(dimension)
    this.sketch = sketched ? Sketch.create(dimension) : undefined
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
      this.flags[row] = IN_GRAPH | IN_FILE
      const key = points.keys[i] ?? DEAD
      if (key === DEAD) return
      this.#link(row, key, points.docs[i] ?? 0)
      this.#setFlags(row, LIVE | IN_GRAPH | IN_FILE | PENDING)
      this.#pending.set(row, points.fingerprints[i] ?? Number.NaN)
      this.live++
    })
    this.#collectFree()
  }

  /** Writes the vector that a graph's file has for one of its points; it counts once it is confirmed. @returns whether it waits */
  fill(row: number, vector: Float32Array): boolean {
    const block = this.blocks[Math.floor(row / BLOCK_ROWS)]
    if (block === undefined || !this.#is(row, PENDING)) return false
    writeRow(vector, block, (row % BLOCK_ROWS) * this.dimension)
    this.#filled.add(row)
    return true
  }

  /** Takes the vector that came with a file for that of a key. @returns whether there was one with this checksum */
  confirm(key: number, doc: number, sum: number): boolean {
    const row = this.#rowOfKey.get(key)
    if (row === undefined || !this.#filled.has(row) || !this.#is(row, PENDING)) return false
    const block = this.blocks[Math.floor(row / BLOCK_ROWS)]
    if (block === undefined) return false
    const { buffer, byteOffset, BYTES_PER_ELEMENT } = block
    const from = byteOffset + (row % BLOCK_ROWS) * this.dimension * BYTES_PER_ELEMENT
    if (crc32(new Uint8Array(buffer, from, this.dimension * BYTES_PER_ELEMENT)) !== sum) return false
    this.#settle(row, key, doc)
    return true
  }

  /** What a graph of the rows with any of these flags holds; dead rows stand there with the key `DEAD`. */
  graphPoints(flags: number): GraphPoints {
    const rows: number[] = []
    for (let row = 0; row < this.end; row++) if (this.#is(row, flags)) rows.push(row)
    const known = (row: number) => this.#is(row, LIVE) && !this.#is(row, PENDING)
    return {
      rows: Uint32Array.from(rows),
      keys: Float64Array.from(rows, (row) => (known(row) ? (this.keys[row] ?? DEAD) : DEAD)),
      docs: Float64Array.from(rows, (row) => this.#docs.docOf(row)),
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
    return fingerprint(this.#read(row))
  }

  /** The vector of a row, in an array that the next call uses again. */
  #read(row: number): Float32Array {
    const block = this.blocks[Math.floor(row / BLOCK_ROWS)]
    if (block !== undefined) readRow(block, (row % BLOCK_ROWS) * this.dimension, this.#scratch)
    return this.#scratch
  }

  /** Live rows of a document, newest first. */
  rowsOfDoc(doc: number): Iterable<number> {
    return this.#docs.rowsOf(doc)
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
    for (let row = 0; row < this.end; row++) {
      const flags = this.flags[row] ?? 0
      const inBuild = (flags & IN_BUILD) !== 0
      let next = flags & ~IN_BUILD
      if (built === 'all') next &= ~IN_FILE
      if (built !== 'none') {
        if (inBuild) next |= IN_FILE
        // the new graph is what its file holds: what the one before took in meanwhile is outside again
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

  /** The row's vector became a point of the graph in memory. */
  joinedGraph(row: number): void {
    this.#setFlags(row, (this.flags[row] ?? 0) | IN_GRAPH)
  }

  /** Rows that can be compared and are not in the graph, as pairs: the first of a run, and what follows its last. */
  outsideRuns(): Uint32Array {
    if (this.#runs !== undefined) return this.#runs
    const runs: number[] = []
    for (const [block, count] of this.#outside.entries()) {
      const from = block * BLOCK_ROWS
      for (let row = from; count > 0 && row < Math.min(from + BLOCK_ROWS, this.end); row++) {
        if (!isOutside(this.flags[row] ?? 0)) continue
        const goesOn = runs.at(-1) === row && row - (runs.at(-2) ?? 0) < RUN_ROWS
        if (goesOn) runs[runs.length - 1] = row + 1
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
    this.graphLive += hasAll(next, LIVE | IN_GRAPH) - hasAll(before, LIVE | IN_GRAPH)
    this.fileLive += hasAll(next, LIVE | IN_FILE) - hasAll(before, LIVE | IN_FILE)
    const more = Number(isOutside(next)) - Number(isOutside(before))
    if (more === 0) return
    const block = Math.floor(row / BLOCK_ROWS)
    this.#outside[block] = (this.#outside[block] ?? 0) + more
    this.#runs = undefined
  }

  #is(row: number, flag: number): boolean {
    return ((this.flags[row] ?? 0) & flag) !== 0
  }

  #matches(row: number, vector: VectorEntry['vector']): boolean {
    const expected = this.#pending.get(row)
    if (expected !== undefined) return Math.abs(fingerprint(this.#numbers(vector)) - expected) < SAME_FINGERPRINT
    const block = this.blocks[Math.floor(row / BLOCK_ROWS)]
    return block !== undefined && equalsRow(vector, block, (row % BLOCK_ROWS) * this.dimension)
  }

  /** A vector as numbers; those of halves stand in an array that the next call uses again. */
  #numbers(vector: VectorEntry['vector']): Float32Array {
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

  /** The vector of a row is there: from here on it is found. */
  #settle(row: number, key: number, doc: number): void {
    this.#sketchRow(row)
    if (this.#is(row, LIVE)) {
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
      // No memory for more sketches: from here on all is compared in full, or by a graph.
      this.sketch = undefined
    }
  }

  #kill(row: number): void {
    this.#docs.remove(row)
    this.#rowOfKey.delete(this.keys[row] ?? NONE)
    this.#pending.delete(row)
    this.#filled.delete(row)
    this.#setFlags(row, (this.flags[row] ?? 0) & ~(LIVE | PENDING))
    this.live--
    if (!this.#is(row, IN_GRAPH | IN_BUILD | IN_FILE)) this.#free.push(row)
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

function hasAll(flags: number, wanted: number): number {
  return (flags & wanted) === wanted ? 1 : 0
}
