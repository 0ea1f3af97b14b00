/** IEEE 754 half-precision floats, in which vectors are stored: 2 bytes a number, about 3 decimal digits. */

const scratch = new Float32Array(1)
const scratchBits = new Uint32Array(scratch.buffer)

/** Bits of the half nearest to a number. */
export function toHalf(value: number): number {
  scratch[0] = value
  const bits = scratchBits[0] ?? 0
  const sign = (bits >>> 16) & 0x8000
  const exponent = ((bits >>> 23) & 0xff) - 112
  const mantissa = bits & 0x7fffff
  if (exponent <= 0) {
    if (exponent < -10) return sign
    const shifted = (mantissa | 0x800000) >>> (1 - exponent)
    return sign | ((shifted + 0x1000) >>> 13)
  }
  if (exponent >= 31) return sign | 0x7c00
  return sign | ((exponent << 10) + ((mantissa + 0x1000) >>> 13))
}

/** All 65,536 halves as floats; reading is a table look-up. */
export const FLOATS = (() => {
  const table = new Float32Array(65_536)
  for (let half = 0; half < 65_536; half++) {
    const sign = half & 0x8000 ? -1 : 1
    const exponent = (half >>> 10) & 31
    const mantissa = half & 0x3ff
    if (exponent === 0) table[half] = sign * mantissa * 2 ** -24
    else if (exponent === 31) table[half] = mantissa === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN
    else table[half] = sign * (1 + mantissa / 1024) * 2 ** (exponent - 15)
  }
  return table
})()

export function encodeHalf(vector: Float32Array): Uint8Array {
  const halves = new Uint16Array(vector.length)
  for (let i = 0; i < vector.length; i++) halves[i] = toHalf(vector[i] ?? 0)
  return new Uint8Array(halves.buffer)
}

/** Writes the floats of `bytes` into `target` from `offset` on. @returns their count */
export function decodeHalfInto(bytes: Uint8Array, target: Float32Array, offset: number): number {
  const count = bytes.byteLength >>> 1
  for (let i = 0; i < count; i++) {
    const half = (bytes[2 * i] ?? 0) | ((bytes[2 * i + 1] ?? 0) << 8)
    target[offset + i] = FLOATS[half] ?? 0
  }
  return count
}
