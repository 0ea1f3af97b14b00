import { entryUrl } from '../../lib/entry.js'
import type { ReadingCalls } from './reading-calls.js'
import { openThread, type Thread } from './thread.js'

/** Parsing two megabytes takes a tenth of a second; a busy machine takes longer. */
const LONGEST_MS = 20_000
const HEAP_MEGABYTES = 384

/** Opens the thread that parses responses of servers. The caller closes it. */
export function openReading(): Thread<ReadingCalls> {
  return openThread(entryUrl(import.meta.url, './reading.worker.js'), {
    longestMs: LONGEST_MS,
    heapMegabytes: HEAP_MEGABYTES,
  })
}

/** Makes one call in a temporary thread. @throws EgressFailure when it exceeds the limits */
export async function readOnce<T>(ask: (thread: Thread<ReadingCalls>) => Promise<T>): Promise<T> {
  const thread = openReading()
  try {
    return await ask(thread)
  } finally {
    await thread.close()
  }
}
