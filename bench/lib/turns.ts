import { percentile } from './report.js'

/** Milliseconds of some questions, given by their places, one after the other. */
export type Side = (places: number[]) => Promise<number[]>

/** Each side's times, in the order of the places: the n-th times of all sides are those of the same question. */
export type Times<Name extends string> = Record<Name, number[]>

/** Few enough that all sides meet the same load of the machine, enough that each works from warm caches. */
const BLOCK = 25

/**
 * Puts the same questions to several sides, a block at a time; who goes first turns with each block. What else the
 * machine does slows all of them.
 */
export async function inTurns<Name extends string>(
  sides: Record<Name, Side>,
  places: readonly number[],
): Promise<Times<Name>> {
  // keys of an object are strings; TypeScript does not say which
  const names = Object.keys(sides) as Name[]
  const times = Object.fromEntries(names.map((name): [string, number[]] => [name, []])) as Times<Name>
  for (let from = 0; from < places.length; from += BLOCK) {
    const block = places.slice(from, from + BLOCK)
    for (let place = 0; place < names.length; place++) {
      const name = names[(place + from / BLOCK) % names.length]!
      times[name].push(...(await sides[name](block)))
    }
  }
  return times
}

/** The middle of what several rounds gave, and how far they lie apart. */
export function acrossRounds(values: readonly number[]): { value: number; spread: [number, number] } {
  return { value: percentile(values, 0.5), spread: [Math.min(...values), Math.max(...values)] }
}

/** Of each round a percentile, of those the middle. */
export function percentileOf(rounds: readonly number[][], share: number) {
  return acrossRounds(rounds.map((times) => percentile(times, share)))
}

/** In each round one side's percentile as a multiple of the other's. */
export function ratioOf(rounds: readonly number[][], others: readonly number[][], share = 0.5) {
  return acrossRounds(rounds.map((times, round) => percentile(times, share) / percentile(others[round] ?? [], share)))
}
