import { setImmediate as turn } from 'node:timers/promises'
import { type CountedSlice, countNodes, countVectors, type IndexHead, indexHead } from '../rows/index-rows.js'
import type { ExpectedCounts } from '../search/ports.js'
import type { Driver } from '../storage/driver.js'
import type { Read } from '../storage/program.js'

/** rows counted before other work runs: some milliseconds */
const COUNTED_A_TURN = 5_000

/** Content of complete indexes of a space, by the counters that the triggers of the schema maintain. */
export function expectedOf(head: IndexHead | undefined): ExpectedCounts {
  return {
    seq: head?.seq ?? 0,
    nodes: head?.nodes ?? 0,
    vectors: head?.vectors ?? 0,
    ...(head === undefined || head.vector_space === null ? {} : { vectorSpace: head.vector_space }),
  }
}

/** The same, counted row by row in slices. Rows may change meanwhile: `seq` is that of the start. */
export async function countedRows(db: Driver, space: string): Promise<ExpectedCounts> {
  const head = await db.read(indexHead(space))
  const expected = expectedOf(head)
  if (head === undefined) return expected
  const { key, vector_key: vectorKey } = head
  const nodes = await inSlices(db, (after) => countNodes(key, after, COUNTED_A_TURN))
  const vectors = vectorKey === null ? 0 : await inSlices(db, (after) => countVectors(vectorKey, after, COUNTED_A_TURN))
  return { ...expected, nodes, vectors }
}

async function inSlices(db: Driver, count: (after: number) => Read<CountedSlice | undefined>): Promise<number> {
  let live = 0
  let after = 0
  for (;;) {
    const slice = await db.read(count(after))
    live += slice?.live ?? 0
    if (slice === undefined || slice.last === null || slice.looked < COUNTED_A_TURN) return live
    after = slice.last
    await turn()
  }
}
