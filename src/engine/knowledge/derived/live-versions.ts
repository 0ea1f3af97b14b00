import { setImmediate as turn } from 'node:timers/promises'
import type { Driver } from '../../store/driver.js'
import { type CountScope, countPerVersion, FIRST_VERSION_POSITION } from '../../store/rows/derivations.js'

/** Versions read before the event loop gets a turn: some milliseconds. */
const MAX_SLICE_VERSIONS = 250

/**
 * Number of documents that a space shows and that meet a condition.
 *
 * @param condition SQL over the key of version `v`, and over document `d` where that is requested
 */
export async function countLiveDocuments(
  db: Driver,
  scope: CountScope,
  condition: string,
  ...parameters: number[]
): Promise<number> {
  let n = 0
  let after = FIRST_VERSION_POSITION
  for (;;) {
    const slice = await db.read(countPerVersion(scope, after, { condition, parameters, limit: MAX_SLICE_VERSIONS }))
    for (const { counts } of slice) n += counts
    const last = slice.at(-1)
    if (last === undefined || slice.length < MAX_SLICE_VERSIONS) return n
    after = last
    await turn()
  }
}
