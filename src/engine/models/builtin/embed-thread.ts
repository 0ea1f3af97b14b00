import { Worker } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import { KsError } from '../../../contract/errors.js'
import { resolveEntryUrl } from '../../../lib/entry.js'
import type { EmbedReply, EmbedRequest, LsaFacts } from './lsa-messages.js'

/** Maximal bytes of models in a thread; one of 30,000 terms has 6.5 MB serialized and about twice that in use. */
export const MAX_LOADED_MODEL_BYTES = 64 * 1024 * 1024

/** Strings of a batch are short-lived; a larger nursery would only occupy memory. */
const YOUNG_GENERATION_MB = 8

interface PendingEmbedRequest {
  resolve: (reply: EmbedReply) => void
  reject: (error: unknown) => void
}

/** One embedding thread: it starts with the first model, and again after a crash, which unloads all models. */
export class EmbedThread {
  #worker: Worker | undefined
  #closed = false
  #lastId = 0
  readonly #pending = new Map<number, PendingEmbedRequest>()
  readonly #loaded = new LRUCache<string, LsaFacts & { bytes: number }>({
    maxSize: MAX_LOADED_MODEL_BYTES,
    sizeCalculation: ({ bytes }) => bytes,
    dispose: (_, vectorSpaceId, reason) => {
      if (reason === 'evict') this.#post({ type: 'unload', vectorSpaceId })
    },
  })

  has(vectorSpaceId: string): boolean {
    return this.#loaded.has(vectorSpaceId)
  }

  /** Marks a loaded model as recently used. */
  markUsed(vectorSpaceId: string): void {
    this.#loaded.get(vectorSpaceId)
  }

  /** number of unanswered requests */
  get pendingCount(): number {
    return this.#pending.size
  }

  async load(vectorSpaceId: string, bytes: Uint8Array): Promise<LsaFacts> {
    const loaded = this.#loaded.get(vectorSpaceId)
    if (loaded !== undefined) return loaded
    const reply = await this.request((id) => ({ type: 'load', id, vectorSpaceId, bytes }))
    if (reply.type !== 'loaded') throw unexpectedReply(reply)
    this.#loaded.set(vectorSpaceId, { ...reply.facts, bytes: bytes.length })
    return reply.facts
  }

  unload(vectorSpaceId: string): void {
    if (this.#loaded.delete(vectorSpaceId)) this.#post({ type: 'unload', vectorSpaceId })
  }

  /** @throws KsError `internal` when the thread fails the request, `unavailable` when it ended meanwhile */
  request(request: (id: number) => EmbedRequest): Promise<EmbedReply> {
    if (this.#closed) return Promise.reject(new KsError('unavailable', 'the embedder is closed'))
    this.#worker ??= this.#start()
    const worker = this.#worker
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject })
      // keeps the process alive only while requests are pending
      worker.ref()
      worker.postMessage(request(id))
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    const worker = this.#worker
    this.#handleStop(undefined)
    await worker?.terminate()
  }

  #post(request: EmbedRequest): void {
    this.#worker?.postMessage(request)
  }

  #start(): Worker {
    const worker = new Worker(resolveEntryUrl(import.meta.url, './lsa-embed.worker.js'), {
      name: 'lsa-embed',
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    })
    worker.on('message', (reply: EmbedReply) => {
      const waiting = this.#pending.get(reply.id)
      this.#pending.delete(reply.id)
      if (this.#pending.size === 0) worker.unref()
      if (reply.type === 'failed') waiting?.reject(new KsError('internal', reply.message))
      else waiting?.resolve(reply)
    })
    worker.on('error', (cause) => {
      if (this.#worker === worker) this.#handleStop(cause)
    })
    worker.on('exit', () => {
      if (this.#worker === worker) this.#handleStop(undefined)
    })
    return worker
  }

  /** The thread has ended: rejects pending requests; the next call starts another thread. */
  #handleStop(cause: unknown): void {
    this.#worker = undefined
    this.#loaded.clear()
    const error = new KsError('unavailable', 'the embedder stopped before it answered', { cause })
    for (const { reject } of this.#pending.values()) reject(error)
    this.#pending.clear()
  }
}

export function unexpectedReply(reply: EmbedReply): KsError {
  return new KsError('internal', `the embedder answered with ${JSON.stringify(reply.type)}`)
}
