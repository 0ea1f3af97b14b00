import { ApiError } from '../client/errors.js'
import { LIMITS } from '../contract/limits.js'
import { recordIn, textOf } from '../lib/json/values.js'
import type { Api } from './api.js'

/** What whoever follows the changes of spaces is told. */
interface Told {
  /** from now on every change is told */
  open(): void
  changed(spaceId: string): void
  /** @param isAbsent the service has no such feed: to ask again is of no use */
  ended(isAbsent: boolean): void
}

/** Follows which spaces change, by one stream for all of them, until it breaks. @returns what ends it, after which nothing is told */
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
    // a service that is away comes again
    isAbsent = error instanceof ApiError && error.status === 404
  }
  if (!signal.aborted) told.ended(isAbsent)
}
