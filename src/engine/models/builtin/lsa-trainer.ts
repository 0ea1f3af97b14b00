import { Worker } from 'node:worker_threads'
import { KsError } from '../../../contract/errors.js'
import { entryUrl } from '../../../lib/entry.js'
import type { TrainReply, TrainRequest } from './lsa-messages.js'

/** Enough for 20,000 texts of 1 KB three times over; a runaway ends the thread, not the daemon. */
const MAX_HEAP_MB = 768
/** Small, so that the garbage of counting words does not add to the peak. */
const YOUNG_HEAP_MB = 8

export interface TrainedModel {
  /** to store, and to load into `LsaEmbedding` */
  bytes: Uint8Array
  dimension: number
  /** texts it was trained on */
  documents: number
}

/**
 * Trains an embedding model in a thread of its own, which ends afterwards. Batches are taken one at a time, so the
 * source is never read ahead. Order matters: the same texts in the same order give the same bytes.
 *
 * @param batches node texts (`title + '\n' + body`), some tens in a batch; `LSA_MAX_DOCUMENTS` are used at most
 * @returns nothing when there are fewer than `LSA_MIN_DOCUMENTS` texts, or none share a term
 * @throws KsError `internal` when the thread fails; the signal's reason when it aborts
 */
export async function trainLsa(
  batches: AsyncIterable<string[]> | Iterable<string[]>,
  signal?: AbortSignal,
): Promise<TrainedModel | undefined> {
  signal?.throwIfAborted()
  const worker = new Worker(entryUrl(import.meta.url, './lsa-train.worker.js'), {
    name: 'lsa-train',
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB, maxYoungGenerationSizeMb: YOUNG_HEAP_MB },
  })
  const thread = conversation(worker, signal)
  try {
    for await (const texts of batches) await thread.ask({ type: 'texts', texts })
    const trained = await thread.ask({ type: 'train' })
    if (trained.type !== 'trained' || trained.bytes === undefined) return undefined
    return { bytes: trained.bytes, dimension: trained.dimension, documents: trained.documents }
  } finally {
    thread.end()
    await worker.terminate()
  }
}

/** One question, one answer, and an end to both when the thread or the caller gives up. */
function conversation(
  worker: Worker,
  signal?: AbortSignal,
): { ask(r: TrainRequest): Promise<TrainReply>; end(): void } {
  let answer: ((reply: TrainReply) => void) | undefined
  let refuse: ((error: unknown) => void) | undefined
  let failure: { error: unknown } | undefined
  const fail = (error: unknown): void => {
    failure ??= { error }
    refuse?.(failure.error)
  }
  const aborted = (): void => fail(signal?.reason)
  worker.on('message', (reply: TrainReply) => answer?.(reply))
  worker.on('error', (cause) => fail(new KsError('internal', 'training the embedding model failed', { cause })))
  worker.on('exit', () => fail(new KsError('internal', 'training the embedding model ended early')))
  signal?.addEventListener('abort', aborted, { once: true })
  return {
    ask: (request) =>
      new Promise((resolve, reject) => {
        if (failure !== undefined) {
          reject(failure.error)
          return
        }
        answer = resolve
        refuse = reject
        worker.postMessage(request)
      }),
    end: () => signal?.removeEventListener('abort', aborted),
  }
}
