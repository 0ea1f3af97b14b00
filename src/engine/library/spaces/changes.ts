import type { Caller } from '../../base/caller.js'
import { ChangeNotifier } from '../../base/change-notifier.js'
import type { TenantChangeListener } from '../../base/changed-spaces.js'
import type { EngineContext } from '../context.js'
import { listSpaceChangeTokens } from '../rows/space-change-tokens.js'

/** One frame of the change stream. */
export interface ChangeFrame {
  event: 'changes.open' | 'space.changed'
  data: { knowledgeSpaceId?: string }
}

/** changes by other gateways on the same database are found by polling */
const SHARED_POLL_MS = 2000

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
  const listener: TenantChangeListener = { tenant, changed: new Set(), notifier: new ChangeNotifier() }
  const { changed } = listener
  const endsAt = performance.now() + seconds * 1000
  changes.add(listener)
  try {
    let tokens = isShared ? await db.read(listSpaceChangeTokens(tenant)) : undefined
    yield { event: 'changes.open', data: {} }
    while (!signal.aborted && performance.now() < endsAt) {
      for (const id of changed) {
        changed.delete(id)
        yield { event: 'space.changed', data: { knowledgeSpaceId: id } }
      }
      const remainingMs = endsAt - performance.now()
      // a change or abort during a yield has notified no waiter
      if (changed.size === 0 && !signal.aborted)
        await listener.notifier.waitForNext(signal, isShared ? Math.min(SHARED_POLL_MS, remainingMs) : remainingMs)
      if (tokens === undefined || signal.aborted) continue
      const current = await db.read(listSpaceChangeTokens(tenant))
      for (const id of findChanged(tokens, current)) changed.add(id)
      tokens = current
    }
  } finally {
    changes.remove(listener)
  }
}

function findChanged(previous: ReadonlyMap<string, string>, current: ReadonlyMap<string, string>): string[] {
  const removed = [...previous.keys()].filter((id) => !current.has(id))
  const changed = [...current].flatMap(([id, token]) => (previous.get(id) === token ? [] : [id]))
  return [...removed, ...changed]
}
