import { Worker } from 'node:worker_threads'
import { resolveEntryUrl } from '../../lib/entry.js'
import type { TextNode } from './text-index.js'

/** A request to the thread. Requests run in sequence, in the order sent. */
export type TextThreadRequest =
  | { op: 'stage'; index: number; dir: string; add: readonly TextNode[]; remove: readonly number[] }
  | { op: 'commit' | 'rollback' | 'release' | 'close'; index: number }

export interface TextThreadMessage {
  id: number
  request: TextThreadRequest
}

export interface TextThreadReply {
  id: number
  /** absent after success */
  error?: unknown
}

interface PendingThreadRequest {
  sent: number
  resolve: () => void
  reject: (error: unknown) => void
}

let worker: Worker | undefined
/** in the order sent: the first one is running */
const pending = new Map<number, PendingThreadRequest>()
let nextId = 1
let nextIndex = 1
let lastReplyAt = 0

/**
 * Writes one text index in the thread that writes all indexes of this process, so that a commit never delays searches.
 */
export class TextThreadWriter {
  readonly #index = nextIndex++
  readonly #dir: string

  /** @param dir directory of the index */
  constructor(dir: string) {
    this.#dir = dir
  }

  stage(add: readonly TextNode[], remove: readonly number[]): Promise<void> {
    return sendRequest({ op: 'stage', index: this.#index, dir: this.#dir, add, remove })
  }

  commit(): Promise<void> {
    return sendRequest({ op: 'commit', index: this.#index })
  }

  rollback(): Promise<void> {
    return sendRequest({ op: 'rollback', index: this.#index })
  }

  /** Releases what only writing needs, unless something is staged. */
  releaseWriter(): Promise<void> {
    return sendRequest({ op: 'release', index: this.#index })
  }

  /** The same, even if something is staged. */
  close(): Promise<void> {
    return sendRequest({ op: 'close', index: this.#index })
  }
}

/** Time for which the current request has been running, in milliseconds; 0 without a request. */
export function currentWriteMs(): number {
  const [first] = pending.values()
  return first === undefined ? 0 : performance.now() - Math.max(first.sent, lastReplyAt)
}

function sendRequest(request: TextThreadRequest): Promise<void> {
  // an index that was never written to has nothing to release
  if (worker === undefined && request.op !== 'stage') return Promise.resolve()
  worker ??= startThread()
  // a process stays alive only while requests are pending
  worker.ref()
  const message: TextThreadMessage = { id: nextId++, request }
  const answer = new Promise<void>((resolve, reject) => {
    pending.set(message.id, { sent: performance.now(), resolve, reject })
  })
  worker.postMessage(message)
  return answer
}

function startThread(): Worker {
  const thread = new Worker(resolveEntryUrl(import.meta.url, './text-thread.worker.js'), {
    workerData: { faultsOn: process.env.KS_FAULT === 'index' },
    env: {},
    execArgv: [],
  })
  thread.on('message', ({ id, error }: TextThreadReply) => {
    lastReplyAt = performance.now()
    const request = pending.get(id)
    pending.delete(id)
    if (pending.size === 0) thread.unref()
    if (error === undefined) request?.resolve()
    else request?.reject(error)
  })
  thread.on('error', (error) => process.stderr.write(`the text index writer thread failed: ${String(error)}\n`))
  // The thread ends only by a fault. Its uncommitted work is lost and its index stays locked, so the process aborts
  // with it.
  thread.on('exit', () => process.abort())
  return thread
}
