import { ApiError } from '../client/errors.js'
import { LIMITS } from '../contract/limits.js'
import { parseRecord, toNonEmptyString } from '../lib/json/values.js'
import type { GatewayApi } from './api.js'

/** Callbacks of the stream of space changes. */
interface SpaceChangeListener {
  /** Called when the stream is open: from then on every change is reported. */
  onOpen(): void
  onChange(spaceId: string): void
  /** Called when the stream has ended. If the service has no such stream, reconnecting does not help. */
  onEnd(end: { isSupported: boolean }): void
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
  let isSupported = true
  try {
    const query = { seconds: LIMITS.changesSeconds.max }
    const { events } = await api.stream('GET /changes', { query, signal })
    for await (const { event, data } of events) {
      if (signal.aborted) return
      if (event === 'changes.open') listener.onOpen()
      const id = event === 'space.changed' ? toNonEmptyString(parseRecord(data)?.knowledgeSpaceId) : undefined
      if (id !== undefined) listener.onChange(id)
    }
  } catch (error) {
    // An unreachable service may have the stream.
    isSupported = !(error instanceof ApiError && error.status === 404)
  }
  if (!signal.aborted) listener.onEnd({ isSupported })
}
