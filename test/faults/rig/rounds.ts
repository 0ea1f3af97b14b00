import { randomInt } from 'node:crypto'

/** The number of rounds of a fault: as given in a short run, or `KS_FAULT_ROUNDS` times as many (`npm run faults`). */
export function rounds(short: number): number {
  const factor = Number(process.env['KS_FAULT_ROUNDS'] ?? 1)
  return short * (Number.isSafeInteger(factor) && factor > 0 ? factor : 1)
}

const SHORT_SEED = 1

/**
 * The seed of this run: `KS_FAULT_SEED`; else random in long runs, where the test prints it, and constant in short
 * ones.
 */
export function faultSeed(): number {
  const given = Number(process.env['KS_FAULT_SEED'])
  if (Number.isSafeInteger(given) && given > 0) return given
  return process.env['KS_FAULT_ROUNDS'] === undefined ? SHORT_SEED : randomInt(1, 2 ** 31)
}
