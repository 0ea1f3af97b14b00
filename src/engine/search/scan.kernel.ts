import { FLOATS, toHalf } from '../store/half.js'

/**
 * The inner loops of exact vector search. Rows are contiguous in blocks, in half precision as in the database, so that
 * a vector compares the same before and after a restart. All loops read typed arrays only.
 */

/** The best rows so far: a min-heap by score, with the worst of them at index 0. */
export interface TopRows {
  readonly capacity: number
  size: number
  readonly rows: Int32Array
  readonly scores: Float64Array
}

/** @param capacity rows to keep, at least 1 */
export function createTopRows(capacity: number): TopRows {
  return { capacity, size: 0, rows: new Int32Array(capacity), scores: new Float64Array(capacity) }
}

/** Adds a row if it is better than the worst of the best. */
export function offerRow(top: TopRows, row: number, score: number): void {
  const { rows, scores } = top
  if (top.size < top.capacity) {
    let position = top.size++
    while (position > 0) {
      const parent = (position - 1) >> 1
      if (scores[parent]! <= score) break
      scores[position] = scores[parent]!
      rows[position] = rows[parent]!
      position = parent
    }
    scores[position] = score
    rows[position] = row
    return
  }
  if (score <= scores[0]!) return
  let position = 0
  for (;;) {
    let child = 2 * position + 1
    if (child >= top.size) break
    if (child + 1 < top.size && scores[child + 1]! < scores[child]!) child++
    if (scores[child]! >= score) break
    scores[position] = scores[child]!
    rows[position] = rows[child]!
    position = child
  }
  scores[position] = score
  rows[position] = row
}

/** Dot product of `query` and the row at `offset` of `block`: the cosine, as both have unit length. */
export function dotProduct(query: Float32Array, block: Uint16Array, offset: number): number {
  const length = query.length
  const quads = length & ~3
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  let position = offset
  let i = 0
  for (; i < quads; i += 4, position += 4) {
    a += query[i]! * FLOATS[block[position]!]!
    b += query[i + 1]! * FLOATS[block[position + 1]!]!
    c += query[i + 2]! * FLOATS[block[position + 2]!]!
    d += query[i + 3]! * FLOATS[block[position + 3]!]!
  }
  for (; i < length; i++, position++) a += query[i]! * FLOATS[block[position]!]!
  return a + b + c + d
}

/** The rows of a scan: those whose masked flags equal `wanted` and, with `allow`, that are set there. */
export interface RowFilter {
  flags: Uint8Array
  mask: number
  wanted: number
  allow?: Uint8Array
}

/**
 * Creates a function that offers the rows of one block that pass a filter: it takes the block, the number of its first
 * row, and the count of its rows to compare.
 */
export function createBlockScanner(query: Float32Array, filter: RowFilter, top: TopRows) {
  const dimension = query.length
  return (block: Uint16Array, firstRow: number, count: number): void => {
    for (let i = 0; i < count; i++) {
      if (passesFilter(filter, firstRow + i)) offerRow(top, firstRow + i, dotProduct(query, block, i * dimension))
    }
  }
}

function passesFilter({ flags, mask, wanted, allow }: RowFilter, row: number): boolean {
  return (flags[row]! & mask) === wanted && (allow === undefined || allow[row] === 1)
}

/** The score of the k-th best row, or `-Infinity` where there are fewer rows. */
export function findKthBestScore(scores: Float32Array, end: number, filter: RowFilter, k: number): number {
  const top = createTopRows(k)
  for (let row = 0; row < end; row++) {
    const score = scores[row]!
    if ((top.size < k || score > top.scores[0]!) && passesFilter(filter, row)) offerRow(top, row, score)
  }
  return top.size < k ? Number.NEGATIVE_INFINITY : top.scores[0]!
}

/** The rows with at least the minimal score. */
export function listRowsWithScore(scores: Float32Array, end: number, filter: RowFilter, minScore: number): number[] {
  const rows: number[] = []
  for (let row = 0; row < end; row++) if (scores[row]! >= minScore && passesFilter(filter, row)) rows.push(row)
  return rows
}

/** Whether every number is finite: 0 × NaN and 0 × Infinity are NaN, everything else adds 0. */
export function allFinite(values: Float32Array): boolean {
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += values[i]! * 0
  return sum === 0
}

/** The same for the bits of float16 numbers: an exponent of all ones is not finite. */
export function allFiniteHalves(halves: Uint16Array): boolean {
  for (let i = 0; i < halves.length; i++) if ((halves[i]! & 0x7c00) === 0x7c00) return false
  return true
}

/** Writes a vector into a row as float16; a vector of float16 bits is copied. */
export function writeRow(vector: Float32Array | Uint16Array, block: Uint16Array, offset: number): void {
  if (vector instanceof Uint16Array) block.set(vector, offset)
  else for (let i = 0; i < vector.length; i++) block[offset + i] = toHalf(vector[i]!)
}

/** Whether a row equals what `writeRow` would write for a vector. */
export function equalsRow(vector: Float32Array | Uint16Array, block: Uint16Array, offset: number): boolean {
  if (vector instanceof Uint16Array) {
    for (let i = 0; i < vector.length; i++) if (block[offset + i] !== vector[i]) return false
    return true
  }
  for (let i = 0; i < vector.length; i++) if (block[offset + i] !== toHalf(vector[i]!)) return false
  return true
}

/** Copies a row into an array of numbers of the same length; the graph library accepts plain arrays only. */
export function readRow(block: Uint16Array, offset: number, into: number[] | Float32Array): void {
  for (let i = 0; i < into.length; i++) into[i] = FLOATS[block[offset + i]!]!
}

/**
 * A number that distinguishes two unit vectors with high probability: a fixed ±1 projection, scaled to unit length.
 * Signs come from a multiplicative hash of the position, so there is no table.
 */
export function computeFingerprint(vector: Float32Array): number {
  let sum = 0
  for (let i = 0; i < vector.length; i++) {
    sum += Math.imul(i + 1, 0x9e3779b1) < 0 ? vector[i]! : -vector[i]!
  }
  return sum / Math.sqrt(vector.length)
}
