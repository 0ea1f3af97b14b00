/**
 * Numeric core of latent semantic analysis: a basis of the dominant right singular subspace of a sparse matrix, by
 * random projection and power iteration (Halko, Martinsson, Tropp 2011, "Finding structure with randomness", 4.4),
 * orthonormalised by Cholesky QR. No SVD follows: cosines do not change when the basis is rotated.
 */

/** A sparse matrix, row by row: entries of row r are `start[r]` to `start[r + 1]`. */
export interface SparseRows {
  rows: number
  columns: number
  start: Uint32Array
  column: Uint32Array
  value: Float32Array
}

/** A pivot this much below the largest one is rounding noise: its direction is dropped. */
const RANK_TOLERANCE = 1e-9

/** Creates a function that adds rows of k numbers: out += factor * row of `from`. */
function createRowAdder(out: Float32Array, from: Float32Array, k: number) {
  return (outOffset: number, fromOffset: number, factor: number): void => {
    let i = 0
    for (const end = k - 3; i < end; i += 4) {
      out[outOffset + i]! += factor * from[fromOffset + i]!
      out[outOffset + i + 1]! += factor * from[fromOffset + i + 1]!
      out[outOffset + i + 2]! += factor * from[fromOffset + i + 2]!
      out[outOffset + i + 3]! += factor * from[fromOffset + i + 3]!
    }
    for (; i < k; i++) out[outOffset + i]! += factor * from[fromOffset + i]!
  }
}

/** A X: (rows x columns) times (columns x k). */
function multiply(a: SparseRows, x: Float32Array, k: number): Float32Array {
  const y = new Float32Array(a.rows * k)
  const addScaled = createRowAdder(y, x, k)
  for (let row = 0; row < a.rows; row++) {
    for (let p = a.start[row]!; p < a.start[row + 1]!; p++) addScaled(row * k, a.column[p]! * k, a.value[p]!)
  }
  return y
}

/** A' Y: (columns x rows) times (rows x k). */
function multiplyTransposed(a: SparseRows, y: Float32Array, k: number): Float32Array {
  const x = new Float32Array(a.columns * k)
  const addScaled = createRowAdder(x, y, k)
  for (let row = 0; row < a.rows; row++) {
    for (let p = a.start[row]!; p < a.start[row + 1]!; p++) addScaled(a.column[p]! * k, row * k, a.value[p]!)
  }
  return x
}

/** Upper triangle of M' M for M of rows x k, in doubles; four rows at a time to save writes. */
function computeGram(m: Float32Array, rows: number, k: number): Float64Array {
  const g = new Float64Array(k * k)
  const block = new Float64Array(4 * k)
  for (let row = 0; row < rows; row += 4) {
    const taken = Math.min(4, rows - row) * k
    block.fill(0)
    for (let i = 0; i < taken; i++) block[i] = m[row * k + i]!
    for (let i = 0; i < k; i++) {
      const a = block[i]!
      const b = block[k + i]!
      const c = block[2 * k + i]!
      const d = block[3 * k + i]!
      const at = i * k
      for (let j = i; j < k; j++) {
        g[at + j]! += a * block[j]! + b * block[k + j]! + c * block[2 * k + j]! + d * block[3 * k + j]!
      }
    }
  }
  return g
}

/** Inverse of the upper Cholesky factor of G; columns of missing directions are zero. */
function invertFactor(g: Float64Array, k: number): Float64Array {
  const r = new Float64Array(k * k)
  let largest = 0
  for (let i = 0; i < k; i++) largest = Math.max(largest, g[i * k + i]!)
  for (let i = 0; i < k; i++) {
    let pivot = g[i * k + i]!
    for (let p = 0; p < i; p++) pivot -= r[p * k + i]! ** 2
    if (pivot <= largest * RANK_TOLERANCE) continue
    const root = Math.sqrt(pivot)
    r[i * k + i] = root
    for (let j = i + 1; j < k; j++) {
      let sum = g[i * k + j]!
      for (let p = 0; p < i; p++) sum -= r[p * k + i]! * r[p * k + j]!
      r[i * k + j] = sum / root
    }
  }
  const inverse = new Float64Array(k * k)
  for (let j = 0; j < k; j++) {
    if (r[j * k + j] === 0) continue
    inverse[j * k + j] = 1 / r[j * k + j]!
    for (let i = j - 1; i >= 0; i--) {
      if (r[i * k + i] === 0) continue
      let sum = 0
      for (let p = i + 1; p <= j; p++) sum -= r[i * k + p]! * inverse[p * k + j]!
      inverse[i * k + j] = sum / r[i * k + i]!
    }
  }
  return inverse
}

/** Makes the columns of M (rows x k) orthonormal, in place. */
export function orthonormalise(m: Float32Array, rows: number, k: number): void {
  const inverse = invertFactor(computeGram(m, rows, k), k)
  const out = new Float64Array(k)
  for (let row = 0; row < rows; row++) {
    const base = row * k
    out.fill(0)
    for (let i = 0; i < k; i++) {
      const factor = m[base + i]!
      if (factor === 0) continue
      const at = i * k
      for (let j = i; j < k; j++) out[j]! += factor * inverse[at + j]!
    }
    for (let j = 0; j < k; j++) m[base + j] = out[j]!
  }
}

/** Marsaglia's xorshift32: the same random start in every run makes results repeatable. */
function randomSigns(length: number, seed: number): Float32Array {
  const signs = new Float32Array(length)
  let state = seed | 0
  for (let i = 0; i < length; i++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    signs[i] = state < 0 ? -1 : 1
  }
  return signs
}

function identity(rows: number, k: number): Float32Array {
  const m = new Float32Array(rows * k)
  for (let row = 0; row < rows; row++) m[row * k + row] = 1
  return m
}

/**
 * Approximate orthonormal basis, columns x k, of the subspace spanned by the k largest right singular vectors of A.
 *
 * @param iterations power iterations; each sharpens the subspace and costs two passes over A
 */
export function dominantBasis(a: SparseRows, k: number, seed: number, iterations: number): Float32Array {
  if (k >= a.columns) return identity(a.columns, k)
  let y = multiply(a, randomSigns(a.columns * k, seed), k)
  for (let i = 0; i < iterations; i++) {
    orthonormalise(y, a.rows, k)
    y = multiply(a, multiplyTransposed(a, y, k), k)
  }
  orthonormalise(y, a.rows, k)
  const x = multiplyTransposed(a, y, k)
  orthonormalise(x, a.columns, k)
  return x
}

/**
 * Quantises the rows of M to signed bytes with one scale per row: value = byte * scale. The largest magnitude of a row
 * becomes 127.
 */
export function quantiseRows(m: Float32Array, rows: number, k: number): { bytes: Int8Array; scales: Float32Array } {
  const bytes = new Int8Array(rows * k)
  const scales = new Float32Array(rows)
  for (let row = 0; row < rows; row++) {
    let largest = 0
    for (let i = row * k; i < (row + 1) * k; i++) largest = Math.max(largest, Math.abs(m[i]!))
    if (largest === 0) continue
    scales[row] = largest / 127
    for (let i = row * k; i < (row + 1) * k; i++) bytes[i] = Math.round((m[i]! / largest) * 127)
  }
  return { bytes, scales }
}

/**
 * out += factor * row of bytes, over the numbers of `out`, for each of the rows. Four rows at a time: `out`, the main cost, is
 * then loaded and stored a quarter as often.
 *
 * @param factors one per row
 */
export function addRows(
  out: Float32Array,
  bytes: Int8Array,
  rows: readonly number[],
  factors: readonly number[],
): void {
  const k = out.length
  const blockEnd = rows.length - (rows.length % 4)
  for (let n = 0; n < blockEnd; n += 4) {
    const [a, b, c, d] = [rows[n]! * k, rows[n + 1]! * k, rows[n + 2]! * k, rows[n + 3]! * k]
    const [p, q, r, s] = [factors[n]!, factors[n + 1]!, factors[n + 2]!, factors[n + 3]!]
    for (let i = 0; i < k; i++) out[i]! += p * bytes[a + i]! + q * bytes[b + i]! + r * bytes[c + i]! + s * bytes[d + i]!
  }
  for (let n = blockEnd; n < rows.length; n++) {
    const at = rows[n]! * k
    const factor = factors[n]!
    for (let i = 0; i < k; i++) out[i]! += factor * bytes[at + i]!
  }
}

/** Scales a vector to unit length in place; false for a zero vector. */
export function normalise(vector: Float32Array): boolean {
  let sum = 0
  for (let i = 0; i < vector.length; i++) sum += vector[i]! * vector[i]!
  if (!(sum > 0)) return false
  const factor = 1 / Math.sqrt(sum)
  for (let i = 0; i < vector.length; i++) vector[i]! *= factor
  return true
}
