import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../client/client.js'
import { ConnectionError } from '../../client/errors.js'
import { defined } from '../../lib/defined.js'
import { isRecord, textOf } from '../../lib/json/values.js'

/** One event of a research task, unchanged. */
export interface TaskEvent {
  event: string
  /** Cursor after the event. */
  id: string | undefined
  data: Record<string, unknown>
}

export interface FollowOptions {
  /** Cursor at which to continue. */
  cursor?: string | undefined
  /** Maximum number of events of one request; the service closes the stream after them. */
  pageSize: number
  /** Continue until the task has ended, over pages and restarts of the service. */
  toTheEnd: boolean
  /** Read all pages until there are no more events for now. */
  everyPage?: boolean
  signal: AbortSignal
  /** Opens a client of the current service after the connection broke. */
  reconnect: () => Promise<Client>
}

const LAST = new Set(['research.completed', 'research.failed', 'research.canceled'])
const RECONNECTS = 5
const RECONNECT_PAUSE_MS = 500

export function isLast({ event }: TaskEvent): boolean {
  return LAST.has(event)
}

/** Yields events of a task as they arrive. A broken stream is resumed after the last event. */
export async function* followTask(client: Client, id: string, options: FollowOptions): AsyncGenerator<TaskEvent> {
  let { cursor } = options
  let current = client
  let broken = 0
  for (;;) {
    let seen = 0
    try {
      for await (const event of onePage(current, id, cursor, options)) {
        cursor = event.id ?? cursor
        seen += 1
        broken = 0
        yield event
        if (isLast(event)) return
      }
    } catch (error) {
      if (!options.toTheEnd || !(error instanceof ConnectionError) || ++broken > RECONNECTS) throw error
      await sleep(RECONNECT_PAUSE_MS * broken, undefined, { signal: options.signal })
      current = await options.reconnect()
      continue
    }
    // A stream without an event has no more events, unless the service was stopped.
    if (!options.toTheEnd && options.everyPage && seen >= options.pageSize) continue
    if (!options.toTheEnd) return
    if (seen === 0 && ++broken > RECONNECTS) return
    if (seen >= options.pageSize) continue
    await sleep(RECONNECT_PAUSE_MS, undefined, { signal: options.signal })
    current = await options.reconnect()
  }
}

async function* onePage(
  client: Client,
  id: string,
  cursor: string | undefined,
  { pageSize, signal }: FollowOptions,
): AsyncGenerator<TaskEvent> {
  const query = { limit: pageSize, ...defined({ cursor }) }
  const { events } = await client.stream('GET /research-tasks/{id}/events', { path: { id }, query })
  const stopped = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  stopped.catch(() => undefined)
  for (;;) {
    signal.throwIfAborted()
    // Ctrl-C does not wait for the next event; the connection closes with the command.
    const next = await Promise.race([events.next(), stopped])
    if (next.done === true) return
    const data: unknown = JSON.parse(next.value.data)
    if (isRecord(data)) yield { event: next.value.event, id: next.value.id, data }
  }
}

/** Formats an event for people: `retrieving`, `evidence 3: 8 passages, answerable`. */
export function eventLine({ event, data }: TaskEvent): string {
  const text = (key: string): string => textOf(data[key]) ?? String(data[key] ?? '')
  switch (event) {
    case 'research.stage':
      return text('stage')
    case 'research.partial':
      return `evidence ${text('sequence')}: ${text('itemCount')} passages, ${text('state')}`
    case 'research.cost':
      return `cost so far: $${text('totalUsd')}, after ${text('step')}`
    case 'research.failed':
      return `failed: ${text('error')}`
    default:
      return event.replace('research.', '')
  }
}
