import type { Caller } from '../base/caller.js'
import type { Follower } from '../base/changed-spaces.js'
import type { EngineContext } from '../context.js'
import { spaceMarks } from '../rows/space-marks.js'

/** One frame of the feed of changes. */
export interface ChangeFrame {
  event: 'changes.open' | 'space.changed'
  data: { knowledgeSpaceId?: string }
}

/** what other gateways do on the same database is seen by looking */
const LOOK_SHARED_MS = 2000

/**
 * The spaces of the caller's tenant that change, from the first frame on, for so many seconds or until the signal aborts.
 * What changes while nobody takes frames is told once a space.
 */
export async function* followChanges(
  { changes, db, isShared }: Pick<EngineContext, 'changes' | 'db' | 'isShared'>,
  { tenant }: Caller,
  seconds: number,
  signal: AbortSignal,
): AsyncGenerator<ChangeFrame> {
  const follower: Follower = { tenant, changed: new Set(), wake() {} }
  const { changed } = follower
  const endsAt = performance.now() + seconds * 1000
  const wake = () => follower.wake()
  changes.add(follower)
  signal.addEventListener('abort', wake)
  try {
    let marks = isShared ? await db.read(spaceMarks(tenant)) : undefined
    yield { event: 'changes.open', data: {} }
    while (!signal.aborted && performance.now() < endsAt) {
      for (const id of changed) {
        changed.delete(id)
        yield { event: 'space.changed', data: { knowledgeSpaceId: id } }
      }
      const left = endsAt - performance.now()
      await happening(follower, signal, isShared ? Math.min(LOOK_SHARED_MS, left) : left)
      if (marks === undefined || signal.aborted) continue
      const now = await db.read(spaceMarks(tenant))
      for (const id of different(marks, now)) changed.add(id)
      marks = now
    }
  } finally {
    signal.removeEventListener('abort', wake)
    changes.remove(follower)
  }
}

/** Resolves when something changed, the reader leaves, or after so many milliseconds. */
async function happening(follower: Follower, signal: AbortSignal, ms: number): Promise<void> {
  if (follower.changed.size > 0 || signal.aborted) return
  let timer: NodeJS.Timeout | undefined
  await new Promise<void>((resolve) => {
    follower.wake = resolve
    timer = setTimeout(resolve, ms)
    timer.unref()
  })
  clearTimeout(timer)
  follower.wake = () => {}
}

function different(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): string[] {
  const gone = [...before.keys()].filter((id) => !now.has(id))
  const moved = [...now].flatMap(([id, mark]) => (before.get(id) === mark ? [] : [id]))
  return [...gone, ...moved]
}
