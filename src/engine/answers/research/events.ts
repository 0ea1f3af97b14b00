import type { ResearchEventName } from '../../../contract/gateway/research.js'
import type { Caller } from '../../base/caller.js'
import { decodeCursor, encodeCursor, hashFilter } from '../../base/cursor.js'
import type { PageRequest } from '../../base/page.js'
import { streamAsTenant } from '../../base/tenant-scope.js'
import type { EngineContext } from '../../library/index.js'
import type { Driver } from '../../store/driver.js'
import type { Read } from '../../store/program.js'
import { parseJsonCell } from '../../store/readable.js'
import { listEventsAfter, type ResearchEventRow } from '../../store/rows/research/events.js'
import type { ResearchTaskKey } from '../../store/rows/research/task-key.js'
import { findTask, findTaskByKey } from '../../store/rows/research/tasks.js'
import type { ResearchRunner } from './runner.js'

/** One event; `id` is the cursor that continues after it. */
export interface ResearchEventFrame {
  id: string
  event: ResearchEventName
  data: unknown
}

const FINAL_EVENTS: readonly ResearchEventName[] = ['research.completed', 'research.failed', 'research.canceled']
/** Events of a task that ended with its space are never announced, so followers poll. */
const POLL_INTERVAL_MS = 5000
/** Events of a task that another gateway runs are not announced here either. */
const SHARED_POLL_INTERVAL_MS = 1000

/**
 * Streams the events of a task after a cursor: the stored ones, then new ones, in the order of writing and without
 * gaps. Ends after the last event, or after `limit` events.
 */
export async function followEvents(
  { db, isShared }: Pick<EngineContext, 'db' | 'isShared'>,
  runner: ResearchRunner,
  { caller, id, ...page }: PageRequest & { caller: Caller; id: string },
  signal: AbortSignal,
): Promise<AsyncIterable<ResearchEventFrame>> {
  const task = await db.read(findTask(caller, id))
  const filter = hashFilter('research-events', task.id)
  const [after = 0] = page.cursor === undefined ? [] : decodeCursor(page.cursor, filter).after
  const lookAgainMs = isShared ? SHARED_POLL_INTERVAL_MS : POLL_INTERVAL_MS
  const from = { task, filter, after: Number(after), limit: page.limit, lookAgainMs }
  return streamAsTenant(caller.tenant, () => follow(db, runner, from, signal))
}

async function* follow(
  db: Driver,
  runner: ResearchRunner,
  from: { task: ResearchTaskKey; filter: string; after: number; limit: number; lookAgainMs: number },
  signal: AbortSignal,
): AsyncGenerator<ResearchEventFrame> {
  const { task, filter } = from
  let { after, limit: remaining } = from
  for (;;) {
    const changed = waitForChange(runner, task.id, from.lookAgainMs, signal)
    try {
      const { open, events } = await db.read(readNewEvents(task, after, remaining))
      for (const { sequence, event, data } of events) {
        yield { id: encodeCursor({ after: [sequence] }, filter), event, data: parseJsonCell(data) }
        after = sequence
        remaining -= 1
        if (FINAL_EVENTS.includes(event)) return
      }
      if (remaining <= 0 || !open || signal.aborted) return
      if (events.length === 0) await changed.happened
    } finally {
      changed.dispose()
    }
  }
}

function* readNewEvents(
  task: ResearchTaskKey,
  after: number,
  max: number,
): Read<{ open: boolean; events: ResearchEventRow[] }> {
  // The task is read before the events: if it has ended, all of its events are stored.
  const open = (yield* findTaskByKey(task))?.completed_at === null
  return { open, events: yield* listEventsAfter(task, after, max) }
}

/** Resolves at the next change of the task, when the reader disconnects, or after a delay. */
function waitForChange(runner: ResearchRunner, taskId: string, lookAgainMs: number, signal: AbortSignal) {
  let resolve = () => {}
  const happened = new Promise<void>((resolved) => {
    resolve = resolved
  })
  const forget = runner.listen(taskId, resolve)
  const timer = setTimeout(resolve, lookAgainMs)
  signal.addEventListener('abort', resolve, { once: true })
  return {
    happened,
    dispose: () => {
      forget()
      clearTimeout(timer)
      signal.removeEventListener('abort', resolve)
    },
  }
}
