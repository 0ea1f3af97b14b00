import { percentile } from './report.js'

/** Asks the questions with these indexes one after the other and returns the milliseconds of each. */
export type TimedSide = (indexes: number[]) => Promise<number[]>

/** The n-th times of all sides are those of the same question. */
export type Times<Name extends string> = Record<Name, number[]>

/** Few enough for the same load of the machine on all sides, enough for warm caches. */
const BLOCK_QUESTIONS = 25

/**
 * Asks several sides the same questions in blocks, with a different side first in each block, so that other load of the
 * machine affects all of them.
 */
export async function measureInTurns<Name extends string>(
  sides: Record<Name, TimedSide>,
  indexes: readonly number[],
): Promise<Times<Name>> {
  // keys of an object are strings; TypeScript does not say which
  const names = Object.keys(sides) as Name[]
  const times = Object.fromEntries(names.map((name): [string, number[]] => [name, []])) as Times<Name>
  for (let start = 0; start < indexes.length; start += BLOCK_QUESTIONS) {
    const block = indexes.slice(start, start + BLOCK_QUESTIONS)
    for (let index = 0; index < names.length; index++) {
      const name = names[(index + start / BLOCK_QUESTIONS) % names.length]!
      times[name].push(...(await sides[name](block)))
    }
  }
  return times
}

/** Computes the median of several rounds and their spread. */
export function summarizeRounds(values: readonly number[]): { value: number; spread: [number, number] } {
  return { value: percentile(values, 0.5), spread: [Math.min(...values), Math.max(...values)] }
}

/** Computes the median of the rounds' percentiles. */
export function computePercentile(rounds: readonly number[][], fraction: number) {
  return summarizeRounds(rounds.map((times) => percentile(times, fraction)))
}

/** Computes the ratio of the percentiles of two sides in each round. */
export function computeRatio(rounds: readonly number[][], others: readonly number[][], fraction = 0.5) {
  return summarizeRounds(
    rounds.map((times, round) => percentile(times, fraction) / percentile(others[round] ?? [], fraction)),
  )
}
