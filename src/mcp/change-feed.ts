import { ApiError } from '../client/errors.js'
import { LIMITS } from '../contract/limits.js'
import { parseRecord, toNonEmptyString } from '../lib/json/values.js'
import type { GatewayApi } from './api.js'

/** Callbacks of the stream of space changes. */
interface SpaceChangeListener {
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
export function subscribeToSpaceChanges(api: GatewayApi, listener: SpaceChangeListener): () => void {
  const abort = new AbortController()
  void readSpaceChanges(api, listener, abort.signal)
  return () => abort.abort()
}

async function readSpaceChanges(api: GatewayApi, listener: SpaceChangeListener, signal: AbortSignal): Promise<void> {
  let isAbsent = false
  try {
    const query = { seconds: LIMITS.changesSeconds.max }
    const { events } = await api.stream('GET /changes', { query, signal })
    for await (const { event, data } of events) {
      if (signal.aborted) return
      if (event === 'changes.open') listener.open()
      const id = event === 'space.changed' ? toNonEmptyString(parseRecord(data)?.knowledgeSpaceId) : undefined
      if (id !== undefined) listener.changed(id)
    }
  } catch (error) {
    // A service that is unreachable comes back.
    isAbsent = error instanceof ApiError && error.status === 404
  }
  if (!signal.aborted) listener.ended(isAbsent)
}
