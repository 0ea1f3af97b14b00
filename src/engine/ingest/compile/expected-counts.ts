import { setImmediate as turn } from 'node:timers/promises'
import type { ExpectedCounts } from '../../search/index.js'
import type { Driver } from '../../store/driver.js'
import type { Read } from '../../store/program.js'
import {
  countLiveNodesAfter,
  countLiveVectorsAfter,
  findIndexHead,
  type IndexHead,
  type LiveCountSlice,
} from '../rows/index-rows.js'

/** rows counted before other work runs: some milliseconds */
const SLICE_ROWS = 5_000

/** Content of complete indexes of a space, by the counters that the triggers of the schema maintain. */
export function toExpectedCounts(head: IndexHead | undefined): ExpectedCounts {
  return {
    seq: head?.seq ?? 0,
    nodes: head?.nodes ?? 0,
    vectors: head?.vectors ?? 0,
    ...(head === undefined || head.vector_space === null ? {} : { vectorSpace: head.vector_space }),
  }
}

/** The same, counted row by row in slices. Rows may change meanwhile: `seq` is that of the start. */
export async function countExpectedRows(db: Driver, space: string): Promise<ExpectedCounts> {
  const head = await db.read(findIndexHead(space))
  const expected = toExpectedCounts(head)
  if (head === undefined) return expected
  const { key, vector_key: vectorKey } = head
  const nodes = await sumSlices(db, (after) => countLiveNodesAfter(key, after, SLICE_ROWS))
  const vectors =
    vectorKey === null ? 0 : await sumSlices(db, (after) => countLiveVectorsAfter(vectorKey, after, SLICE_ROWS))
  return { ...expected, nodes, vectors }
}

async function sumSlices(db: Driver, count: (after: number) => Read<LiveCountSlice | undefined>): Promise<number> {
  let live = 0
  let after = 0
  for (;;) {
    const slice = await db.read(count(after))
    live += slice?.live ?? 0
    if (slice === undefined || slice.last === null || slice.looked < SLICE_ROWS) return live
    after = slice.last
    await turn()
  }
}
