import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../client/client.js'
import { ConnectionError } from '../../client/errors.js'
import { isRecord, toNonEmptyString } from '../../lib/json/values.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { pluralize } from '../../lib/text/pluralize.js'

/** One event of a research task, unchanged. */
export interface TaskEvent {
  event: string
  /** Cursor after the event. */
  id: string | undefined
  data: Record<string, unknown>
}

export interface FollowTaskOptions {
  /** Cursor at which to continue. */
  cursor?: string | undefined
  /** Maximum number of events of one request; the service closes the stream after them. */
  pageSize: number
  /** Whether to continue until the task has ended, over pages and restarts of the service. */
  untilEnd: boolean
  /** Whether to read all pages, until there are no more events for now. */
  allPages?: boolean
  signal: AbortSignal
  /** Opens a client of the current service after the connection broke. */
  reconnect: () => Promise<Client>
}

const FINAL_EVENTS = new Set(['research.completed', 'research.failed', 'research.canceled'])
const MAX_RECONNECTS = 5
const RECONNECT_DELAY_MS = 500

export function isFinalEvent({ event }: TaskEvent): boolean {
  return FINAL_EVENTS.has(event)
}

/** Yields events of a task as they arrive. A broken stream is resumed after the last event. */
export async function* followTask(client: Client, id: string, options: FollowTaskOptions): AsyncGenerator<TaskEvent> {
  let { cursor } = options
  let current = client
  let failureCount = 0
  for (;;) {
    let eventCount = 0
    try {
      for await (const event of streamPage(current, id, cursor, options)) {
        cursor = event.id ?? cursor
        eventCount += 1
        failureCount = 0
        yield event
        if (isFinalEvent(event)) return
      }
    } catch (error) {
      if (!options.untilEnd || !(error instanceof ConnectionError) || ++failureCount > MAX_RECONNECTS) throw error
      await sleep(RECONNECT_DELAY_MS * failureCount, undefined, { signal: options.signal })
      current = await options.reconnect()
      continue
    }
    // A stream without an event has no more events, unless the service was stopped.
    if (!options.untilEnd && options.allPages && eventCount >= options.pageSize) continue
    if (!options.untilEnd) return
    if (eventCount === 0 && ++failureCount > MAX_RECONNECTS) return
    if (eventCount >= options.pageSize) continue
    await sleep(RECONNECT_DELAY_MS, undefined, { signal: options.signal })
    current = await options.reconnect()
  }
}

async function* streamPage(
  client: Client,
  id: string,
  cursor: string | undefined,
  { pageSize, signal }: FollowTaskOptions,
): AsyncGenerator<TaskEvent> {
  const query = { limit: pageSize, ...omitUndefined({ cursor }) }
  const { events } = await client.stream('GET /research-tasks/{id}/events', { path: { id }, query })
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  aborted.catch(() => undefined)
  for (;;) {
    signal.throwIfAborted()
    // Ctrl-C does not wait for the next event; the connection closes with the command.
    const next = await Promise.race([events.next(), aborted])
    if (next.done === true) return
    const data: unknown = JSON.parse(next.value.data)
    if (isRecord(data)) yield { event: next.value.event, id: next.value.id, data }
  }
}

/** Formats an event for people: `retrieving`, `evidence 3: 8 passages, answerable`. */
export function formatTaskEvent({ event, data }: TaskEvent): string {
  const getText = (key: string): string => toNonEmptyString(data[key]) ?? String(data[key] ?? '')
  switch (event) {
    case 'research.stage':
      return getText('stage')
    case 'research.partial':
      return `evidence ${getText('sequence')}: ${pluralize(Number(data.itemCount ?? 0), 'passage')}, ${getText('state')}`
    case 'research.cost':
      return `cost so far: $${getText('totalUsd')}, after ${getText('step')}`
    case 'research.failed':
      return `failed: ${getText('error')}`
    default:
      return event.replace('research.', '')
  }
}
