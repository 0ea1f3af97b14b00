import { setImmediate as turn } from 'node:timers/promises'
import {
  BEGINNING,
  type Counted,
  type LiveVersion,
  liveCounts,
  liveVersionsAfter,
  type Place,
} from '../rows/derivations.js'
import type { Driver } from '../storage/driver.js'

/** Versions read before the event loop gets a turn: some milliseconds. */
const SLICE = 250

/**
 * Versions that a space shows, in order, each with whether it meets a condition.
 *
 * @param condition SQL over version `v`
 */
export function liveAfter(
  db: Driver,
  spaceKey: number,
  after: Place,
  condition: string,
  limit: number,
): Promise<LiveVersion[]> {
  return db.read(liveVersionsAfter(spaceKey, after, condition, limit))
}

/**
 * Number of documents that a space shows and that meet a condition.
 *
 * @param condition SQL over the key of version `v`, and over document `d` where that is requested
 */
export async function countLive(db: Driver, of: Counted, condition: string, ...parameters: number[]): Promise<number> {
  let n = 0
  let after = BEGINNING
  for (;;) {
    const slice = await db.read(liveCounts(of, after, { condition, parameters, limit: SLICE }))
    for (const { counts } of slice) n += counts
    const last = slice.at(-1)
    if (last === undefined || slice.length < SLICE) return n
    after = last
    await turn()
  }
}
