import { DOTS_WASM } from './dots.wasm.js'

/**
 * A sketch of every vector with one byte per dimension. Sixteen bytes are compared at a time: WebAssembly has vector
 * instructions, JavaScript has none. Sketches only select candidates; the bound on their error guarantees that no best
 * row is missed, and candidates are compared exactly. At 384 dimensions this is about eight times as fast as the exact
 * comparison.
 */

const WASM_PAGE_BYTES = 65_536
/** Rows of one call; their results are written to the start of the memory. */
export const SKETCH_ROWS_PER_CALL = 4_096
const ROW_LEVELS = 127
/** The query has more levels than a row; 2^31 / (127 × 8,192 dimensions) is the maximum without overflow. */
const QUERY_LEVELS = 2_047
const LANES = 16

/** Binary of `dots.wat`: two hundred bytes, compiled in less than 1 ms. */
const DOTS_BINARY = Buffer.from(DOTS_WASM, 'base64')

interface WasmMemory {
  readonly buffer: ArrayBuffer
  grow(pages: number): number
}

/** Declares what is used here of the global; the types of Node 20 lack it. */
declare const WebAssembly: {
  Memory: new (limits: { initial: number }) => WasmMemory
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: Record<string, Record<string, unknown>>) => { exports: { dots?: unknown } }
}

interface DotsModule {
  dots(rows: number, count: number, stride: number, out: number): void
}

/** The sketches of the rows of a store. */
export class Sketch {
  readonly #dimension: number
  readonly #stride: number
  readonly #outputOffset: number
  readonly #rowsOffset: number
  readonly #memory: WasmMemory
  readonly #dots: DotsModule['dots']
  #bytes: Int8Array
  /** value of one level, by row */
  #scales = new Float32Array(SKETCH_ROWS_PER_CALL)
  /** largest distance between a row and its sketch so far */
  #maxDistance = 0
  #queryScale = 0

  private constructor(dimension: number, memory: WasmMemory, dots: DotsModule['dots']) {
    this.#dimension = dimension
    this.#stride = Math.ceil(dimension / LANES) * LANES
    this.#outputOffset = this.#stride * Int16Array.BYTES_PER_ELEMENT
    this.#rowsOffset = this.#outputOffset + SKETCH_ROWS_PER_CALL * Int32Array.BYTES_PER_ELEMENT
    this.#memory = memory
    this.#dots = dots
    this.#bytes = new Int8Array(memory.buffer)
  }

  /** @returns undefined where the platform has no vector instructions or no address space is left */
  static create(dimension: number): Sketch | undefined {
    try {
      const memory = new WebAssembly.Memory({ initial: 1 })
      const instance = new WebAssembly.Instance(new WebAssembly.Module(DOTS_BINARY), { m: { m: memory } })
      const { dots } = instance.exports
      return isFunction(dots) ? new Sketch(dimension, memory, dots) : undefined
    } catch {
      return undefined
    }
  }

  /**
   * Sets the sketch of a row.
   *
   * @throws RangeError when the memory, 4 GiB at most, is full
   */
  set(row: number, vector: Float32Array): void {
    this.#reserve(row)
    let largest = 0
    for (let i = 0; i < vector.length; i++) largest = Math.max(largest, Math.abs(vector[i]!))
    const scale = largest / ROW_LEVELS
    const perLevel = scale === 0 ? 0 : 1 / scale
    const offset = this.#rowsOffset + row * this.#stride
    let difference = 0
    for (let i = 0; i < vector.length; i++) {
      const level = Math.round(vector[i]! * perLevel)
      this.#bytes[offset + i] = level
      const rest = vector[i]! - level * scale
      difference += rest * rest
    }
    this.#scales[row] = scale
    this.#maxDistance = Math.max(this.#maxDistance, Math.sqrt(difference))
  }

  /**
   * Writes the approximate cosines of the rows `first` to `end` into `into`, by row number.
   *
   * @returns the maximal error of a cosine, for unit vectors
   */
  compare(query: Float32Array, first: number, end: number, into: Float32Array): number {
    const error = this.setQuery(query)
    this.compareWithSet(first, end, into, first)
    return error
  }

  /** The same with the query that was set last; writes from index `start` on. */
  compareWithSet(first: number, end: number, into: Float32Array, start: number): void {
    for (let row = first; row < end; row += SKETCH_ROWS_PER_CALL) {
      const count = Math.min(SKETCH_ROWS_PER_CALL, end - row)
      this.#dots(this.#rowsOffset + row * this.#stride, count, this.#stride, this.#outputOffset)
      const out = new Int32Array(this.#memory.buffer, this.#outputOffset, count)
      for (let i = 0; i < count; i++)
        into[start + row - first + i] = out[i]! * this.#scales[row + i]! * this.#queryScale
    }
  }

  /**
   * Sets the query of the next comparisons.
   *
   * |q.v - q'.v'| <= |q| |v - v'| + |q - q'| |v'|, and |v'| <= 1 + |v - v'|.
   *
   * @returns the maximal error of a result, for unit vectors
   */
  setQuery(query: Float32Array): number {
    const levels = new Int16Array(this.#memory.buffer, 0, this.#stride)
    let largest = 0
    for (let i = 0; i < this.#dimension; i++) largest = Math.max(largest, Math.abs(query[i]!))
    this.#queryScale = largest / QUERY_LEVELS
    let difference = 0
    let length = 0
    for (let i = 0; i < this.#dimension; i++) {
      const value = query[i]!
      const level = largest === 0 ? 0 : Math.round(value / this.#queryScale)
      levels[i] = level
      difference += (value - level * this.#queryScale) ** 2
      length += value * value
    }
    return Math.sqrt(length) * this.#maxDistance + Math.sqrt(difference) * (1 + this.#maxDistance) + ROUNDING_TOLERANCE
  }

  #reserve(row: number): void {
    const needed = this.#rowsOffset + (row + 1) * this.#stride
    const available = this.#bytes.length
    if (needed > available) {
      // Grows by a quarter at a time, so that adding rows one by one does not copy the memory each time.
      const pages = Math.ceil(Math.max(needed - available, Math.min(available / 4, MAX_GROWTH_BYTES)) / WASM_PAGE_BYTES)
      this.#memory.grow(pages)
      this.#bytes = new Int8Array(this.#memory.buffer)
    }
    if (row < this.#scales.length) return
    const grown = new Float32Array(this.#scales.length * 2)
    grown.set(this.#scales)
    this.#scales = grown
  }
}

/** Tolerance for the rounding of single-precision sums. */
const ROUNDING_TOLERANCE = 1e-5
const MAX_GROWTH_BYTES = 8 * 1024 * 1024

function isFunction(value: unknown): value is DotsModule['dots'] {
  return typeof value === 'function'
}
