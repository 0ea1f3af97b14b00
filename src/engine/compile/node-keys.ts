import type { EngineContext } from '../context.js'
import { reserveNodeKeys } from '../rows/nodes.js'

/** Keys that are set aside at a time: a commit for each batch of small documents would cost more than its passages. */
const AHEAD = 1024

interface Block {
  next: number
  left: number
}

/** What is set aside and not used yet, by database. What a process leaves of it is never used. */
const blocks = new WeakMap<EngineContext['db'], Block>()

/** Sets row keys aside for passages: consecutive ones, above all that were taken before. @returns the first of them */
export async function takeNodeKeys({ db }: Pick<EngineContext, 'db'>, count: number): Promise<number> {
  if (count === 0) return 0
  const block = blocks.get(db)
  if (block !== undefined && block.left >= count) {
    block.next += count
    block.left -= count
    return block.next - count
  }
  const wanted = Math.max(count, AHEAD)
  const first = await db.write(() => reserveNodeKeys(wanted))
  // what was left before stays unused; so does this where others were given later ones meanwhile
  if ((blocks.get(db)?.next ?? 0) < first) blocks.set(db, { next: first + count, left: wanted - count })
  return first
}
