import { entryUrl } from '../../lib/entry.js'
import type { ReadingCalls } from './reading-calls.js'
import { openThread, type Thread } from './thread.js'

/** Reading two megabytes takes a tenth of a second; a machine that is busy takes longer. */
const LONGEST_MS = 20_000
const HEAP_MEGABYTES = 384

/** The thread that reads what the servers of sources answer. It has to be closed. */
export function openReading(): Thread<ReadingCalls> {
  return openThread(entryUrl(import.meta.url, './reading.worker.js'), {
    longestMs: LONGEST_MS,
    heapMegabytes: HEAP_MEGABYTES,
  })
}

/** Asks a thread of its own one thing. @throws EgressFailure when that takes too much */
export async function readOnce<T>(ask: (thread: Thread<ReadingCalls>) => Promise<T>): Promise<T> {
  const thread = openReading()
  try {
    return await ask(thread)
  } finally {
    await thread.close()
  }
}
