import { decodeHalfInto, encodeHalf } from '../../../src/engine/store/half.js'

/** Seeded pseudorandom numbers, so that a failing test is reproducible (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** A standard normal number (Box-Muller). */
export function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(random() + 1e-12)) * Math.cos(2 * Math.PI * random())
}

export function unit(values: Float32Array): Float32Array {
  const length = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0)) || 1
  return values.map((value) => value / length)
}

/** Unit vectors around `clusters` centres, like embeddings, in the precision of the database. */
export function clusteredVectors(count: number, dimension: number, clusters: number, random: () => number) {
  const centres = Array.from({ length: clusters }, () => Float32Array.from({ length: dimension }, () => normal(random)))
  return Array.from({ length: count }, (_, i) => {
    const centre = centres[i % clusters] ?? new Float32Array(dimension)
    const vector = unit(centre.map((value) => value + 0.7 * normal(random)))
    decodeHalfInto(encodeHalf(vector), vector, 0)
    return vector
  })
}
