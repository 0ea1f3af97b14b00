import type { EngineContext } from '../../library/index.js'
import { reserveNodeKeys } from '../../store/rows/nodes.js'

/** Keys that are reserved together: a commit for each batch of small documents would cost more than its passages. */
const RESERVED_KEYS = 1024

interface KeyBlock {
  next: number
  remaining: number
}

/** Reserved unused keys, by database. Keys that a process leaves are never used. */
const blocks = new WeakMap<EngineContext['db'], KeyBlock>()

/** Allocates row keys for passages: consecutive ones, above all earlier ones. @returns the first of them */
export async function allocateNodeKeys({ db }: Pick<EngineContext, 'db'>, count: number): Promise<number> {
  if (count === 0) return 0
  const block = blocks.get(db)
  if (block !== undefined && block.remaining >= count) {
    block.next += count
    block.remaining -= count
    return block.next - count
  }
  const reservedCount = Math.max(count, RESERVED_KEYS)
  const first = await db.write(() => reserveNodeKeys(reservedCount))
  // The rest of the previous block stays unused, and so does this one if concurrent calls got later keys.
  if ((blocks.get(db)?.next ?? 0) < first) blocks.set(db, { next: first + count, remaining: reservedCount - count })
  return first
}
