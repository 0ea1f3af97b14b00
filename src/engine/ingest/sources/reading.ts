import { resolveEntryUrl } from '../../../lib/entry.js'
import type { ReadingCalls } from './reading-calls.js'
import { openThread, type ReadingThread } from './thread.js'

/** Parsing two megabytes takes a tenth of a second; a busy machine takes longer. */
const MAX_CALL_MS = 20_000
const HEAP_MEGABYTES = 384

/** Opens the thread that parses responses of servers. The caller closes it. */
export function openReadingThread(): ReadingThread<ReadingCalls> {
  return openThread(resolveEntryUrl(import.meta.url, './reading.worker.js'), {
    maxCallMs: MAX_CALL_MS,
    heapMegabytes: HEAP_MEGABYTES,
  })
}

/** Makes one call in a temporary thread. @throws EgressFailure when it exceeds the limits */
export async function callReadingThread<T>(ask: (thread: ReadingThread<ReadingCalls>) => Promise<T>): Promise<T> {
  const thread = openReadingThread()
  try {
    return await ask(thread)
  } finally {
    await thread.close()
  }
}
