import type { ResearchEventName } from '../../contract/gateway/research.js'
import type { Caller } from '../base/caller.js'
import { decodeCursor, encodeCursor, filterHash } from '../base/cursor.js'
import type { PageRequest } from '../base/page.js'
import type { EngineContext } from '../context.js'
import { type EventRow, eventsAfter } from '../rows/research/events.js'
import type { OwnTask } from '../rows/research/own-task.js'
import { findTask, taskById } from '../rows/research/tasks.js'
import type { Driver } from '../storage/driver.js'
import type { Read } from '../storage/program.js'
import { fromCell } from '../storage/readable.js'
import type { ResearchRunner } from './runner.js'

/** One event; `id` is the cursor that continues after it. */
export interface EventFrame {
  id: string
  event: ResearchEventName
  data: unknown
}

const LAST: readonly ResearchEventName[] = ['research.completed', 'research.failed', 'research.canceled']
/** Events of a task that ended with its space are never announced, so followers poll. */
const LOOK_AGAIN_MS = 5000
/** Events of a task that another gateway runs are not announced here either. */
const LOOK_AGAIN_SHARED_MS = 1000

/**
 * Streams the events of a task after a cursor: the stored ones, then new ones, in the order of writing and without
 * gaps. Ends after the last event, or after `limit` events.
 */
export async function followEvents(
  { db, isShared }: Pick<EngineContext, 'db' | 'isShared'>,
  runner: ResearchRunner,
  caller: Caller,
  id: string,
  page: PageRequest,
  signal: AbortSignal,
): Promise<AsyncIterable<EventFrame>> {
  const task = await db.read(findTask(caller, id))
  const filter = filterHash('research-events', task.id)
  const [after = 0] = page.cursor === undefined ? [] : decodeCursor(page.cursor, filter).after
  const lookAgainMs = isShared ? LOOK_AGAIN_SHARED_MS : LOOK_AGAIN_MS
  return follow(db, runner, { task, filter, after: Number(after), limit: page.limit, lookAgainMs }, signal)
}

async function* follow(
  db: Driver,
  runner: ResearchRunner,
  from: { task: OwnTask; filter: string; after: number; limit: number; lookAgainMs: number },
  signal: AbortSignal,
): AsyncGenerator<EventFrame> {
  const { task, filter } = from
  let { after, limit: left } = from
  for (;;) {
    const changed = nextChange(runner, task.id, from.lookAgainMs, signal)
    try {
      const { open, events } = await db.read(newsOf(task, after, left))
      for (const { sequence, event, data } of events) {
        yield { id: encodeCursor({ after: [sequence] }, filter), event, data: fromCell(data) }
        after = sequence
        left -= 1
        if (LAST.includes(event)) return
      }
      if (left <= 0 || !open || signal.aborted) return
      if (events.length === 0) await changed.happened
    } finally {
      changed.dispose()
    }
  }
}

function* newsOf(task: OwnTask, after: number, most: number): Read<{ open: boolean; events: EventRow[] }> {
  // The task is read before the events: if it has ended, all of its events are stored.
  const open = (yield* taskById(task))?.completed_at === null
  return { open, events: yield* eventsAfter(task, after, most) }
}

/** Resolves at the next change of the task, when the reader disconnects, or after a delay. */
function nextChange(runner: ResearchRunner, taskId: string, lookAgainMs: number, signal: AbortSignal) {
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
