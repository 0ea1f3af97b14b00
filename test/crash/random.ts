import { randomInt } from 'node:crypto'

/** The seed of this run: `KS_CRASH_SEED`, or a new one, which the test prints. */
export function crashSeed(): number {
  const given = Number(process.env['KS_CRASH_SEED'])
  return Number.isSafeInteger(given) && given > 0 ? given : randomInt(1, 2 ** 31)
}

/** Numbers in [0, 1) that depend on the seed only (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let value = Math.imul(state ^ (state >>> 15), 1 | state)
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32
  }
}
