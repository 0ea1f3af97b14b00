import { ApiError } from '../client/errors.js'
import { LIMITS } from '../contract/limits.js'
import { recordIn, textOf } from '../lib/json/values.js'
import type { Api } from './api.js'

/** Callbacks of the stream of space changes. */
interface Told {
  /** From now on every change is reported. */
  open(): void
  changed(spaceId: string): void
  /** @param isAbsent the service has no such stream: reconnecting does not help */
  ended(isAbsent: boolean): void
}

/**
 * Subscribes to changes of all spaces by one stream, until it breaks.
 * @returns a function that ends the stream, after which no callback is called
 */
export function followSpaces(api: Api, told: Told): () => void {
  const leaving = new AbortController()
  void follow(api, told, leaving.signal)
  return () => leaving.abort()
}

async function follow(api: Api, told: Told, signal: AbortSignal): Promise<void> {
  let isAbsent = false
  try {
    const query = { seconds: LIMITS.changesSeconds.max }
    const { events } = await api.stream('GET /changes', { query, signal })
    for await (const { event, data } of events) {
      if (signal.aborted) return
      if (event === 'changes.open') told.open()
      const id = event === 'space.changed' ? textOf(recordIn(data)?.knowledgeSpaceId) : undefined
      if (id !== undefined) told.changed(id)
    }
  } catch (error) {
    // A service that is unreachable comes back.
    isAbsent = error instanceof ApiError && error.status === 404
  }
  if (!signal.aborted) told.ended(isAbsent)
}
