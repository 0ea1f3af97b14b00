import type { Caller } from '../base/caller.js'
import type { Follower } from '../base/changed-spaces.js'
import { Changes } from '../base/changes.js'
import type { EngineContext } from '../context.js'
import { spaceMarks } from '../rows/space-marks.js'

/** One frame of the change stream. */
export interface ChangeFrame {
  event: 'changes.open' | 'space.changed'
  data: { knowledgeSpaceId?: string }
}

/** changes by other gateways on the same database are found by polling */
const LOOK_SHARED_MS = 2000

/**
 * Streams the spaces of the caller's tenant that change, from the first frame on, for `seconds` or until the signal
 * aborts. Changes between two reads of the consumer are reported once per space.
 */
export async function* followChanges(
  { changes, db, isShared }: Pick<EngineContext, 'changes' | 'db' | 'isShared'>,
  { tenant }: Caller,
  seconds: number,
  signal: AbortSignal,
): AsyncGenerator<ChangeFrame> {
  const follower: Follower = { tenant, changed: new Set(), news: new Changes() }
  const { changed } = follower
  const endsAt = performance.now() + seconds * 1000
  changes.add(follower)
  try {
    let marks = isShared ? await db.read(spaceMarks(tenant)) : undefined
    yield { event: 'changes.open', data: {} }
    while (!signal.aborted && performance.now() < endsAt) {
      for (const id of changed) {
        changed.delete(id)
        yield { event: 'space.changed', data: { knowledgeSpaceId: id } }
      }
      const left = endsAt - performance.now()
      // a change or abort during a yield has notified no waiter
      if (changed.size === 0 && !signal.aborted)
        await follower.news.next(signal, isShared ? Math.min(LOOK_SHARED_MS, left) : left)
      if (marks === undefined || signal.aborted) continue
      const now = await db.read(spaceMarks(tenant))
      for (const id of different(marks, now)) changed.add(id)
      marks = now
    }
  } finally {
    changes.remove(follower)
  }
}

function different(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): string[] {
  const gone = [...before.keys()].filter((id) => !now.has(id))
  const moved = [...now].flatMap(([id, mark]) => (before.get(id) === mark ? [] : [id]))
  return [...gone, ...moved]
}
