import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { KsError } from '../../../contract/errors.js'
import { NO_DEBUGGER_FLAGS } from '../../../lib/debugger-flags.js'
import { resolveEntryUrl } from '../../../lib/entry.js'
import { buildHelperThreadsFlag } from '../../../lib/helper-threads.js'
import { killAtExit } from '../../../lib/kill-at-exit.js'
import { lowerPriority } from '../../../lib/low-priority.js'
import type { TrainReply, TrainRequest } from './lsa-messages.js'

/** Enough for three times 20,000 texts of 1 KB; running out of memory ends this process, not the daemon. */
const NODE_FLAGS = [
  '--max-old-space-size=768',
  '--max-semi-space-size=4',
  buildHelperThreadsFlag(1),
  ...NO_DEBUGGER_FLAGS,
]

export interface TrainedLsaModel {
  /** for storage and for `LsaEmbedder.load` */
  bytes: Uint8Array
  dimension: number
  /** number of training texts */
  documents: number
}

/**
 * Trains an embedding model in a separate process, whose memory (some 150 MB for 20,000 texts) is freed when it ends.
 * Batches are taken one at a time, so the source is never read ahead. Order matters: the same texts in the same order
 * give the same bytes.
 *
 * @param batches node texts (`title + '\n' + body`), some tens per batch; at most `LSA_MAX_DOCUMENTS` are used
 * @returns undefined for fewer than `LSA_MIN_DOCUMENTS` texts, or when no texts share a term
 * @throws KsError `internal` when the process fails; the signal's reason when it aborts
 */
export async function trainLsa(
  batches: AsyncIterable<string[]> | Iterable<string[]>,
  signal?: AbortSignal,
): Promise<TrainedLsaModel | undefined> {
  signal?.throwIfAborted()
  const child = fork(fileURLToPath(resolveEntryUrl(import.meta.url, './lsa-train-child.js')), [], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    execArgv: NODE_FLAGS,
    env: { MALLOC_ARENA_MAX: '1' },
  })
  killAtExit(child)
  lowerPriority(child.pid)
  const process = createRequester(child, signal)
  try {
    for await (const texts of batches) await process.ask({ type: 'texts', texts })
    const trained = await process.ask({ type: 'train' })
    if (trained.type !== 'trained' || trained.bytes === undefined) return undefined
    return { bytes: trained.bytes, dimension: trained.dimension, documents: trained.documents }
  } finally {
    process.end()
    child.kill('SIGKILL')
  }
}

/** Sends one request at a time and waits for its reply; both fail when the process ends or the caller aborts. */
function createRequester(
  child: ChildProcess,
  signal?: AbortSignal,
): { ask(r: TrainRequest): Promise<TrainReply>; end(): void } {
  let resolveReply: ((reply: TrainReply) => void) | undefined
  let rejectReply: ((error: unknown) => void) | undefined
  let failure: { error: unknown } | undefined
  const fail = (error: unknown): void => {
    failure ??= { error }
    rejectReply?.(failure.error)
  }
  const abort = (): void => fail(signal?.reason)
  child.on('message', (reply: TrainReply) => resolveReply?.(reply))
  child.on('error', (cause) => fail(new KsError('internal', 'training the embedding model failed', { cause })))
  child.on('exit', () => fail(new KsError('internal', 'training the embedding model ended early')))
  signal?.addEventListener('abort', abort, { once: true })
  return {
    ask: (request) =>
      new Promise((resolve, reject) => {
        if (failure !== undefined) {
          reject(failure.error)
          return
        }
        resolveReply = resolve
        rejectReply = reject
        child.send(request, (error) => {
          if (error !== null) fail(error)
        })
      }),
    end: () => signal?.removeEventListener('abort', abort),
  }
}
