import { Worker } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import { KsError } from '../../../contract/errors.js'
import { entryUrl } from '../../../lib/entry.js'
import type { EmbedReply, EmbedRequest, LsaFacts } from './lsa-messages.js'

/** Models kept in the thread; one of 30,000 terms is 6.5 MB as bytes and about twice that in use. */
const MAX_MODEL_BYTES = 64 * 1024 * 1024

/** Strings of one batch live briefly; a larger nursery would only be held. */
const YOUNG_GENERATION_MB = 8

interface Waiting {
  resolve: (reply: EmbedReply) => void
  reject: (error: unknown) => void
}

export interface EmbeddedTexts {
  /** unit length; nothing where the model knows no term of the text */
  vectors: (Float32Array | undefined)[]
  /** share of the texts' terms that the model knows, 0 to 1: a falling rate asks for a retraining */
  hitRate: number
}

/**
 * The embedded models of all spaces, in one thread: it starts with the first model and starts again after a crash,
 * when models have to be loaded anew (`has` says so). Queries overtake documents that are being embedded.
 */
export class LsaEmbedding {
  private worker: Worker | undefined
  private closed = false
  private lastId = 0
  private readonly waiting = new Map<number, Waiting>()
  private readonly loaded = new LRUCache<string, LsaFacts & { bytes: number }>({
    maxSize: MAX_MODEL_BYTES,
    sizeCalculation: ({ bytes }) => bytes,
    dispose: (_, vectorSpaceId, reason) => {
      if (reason === 'evict') this.worker?.postMessage({ type: 'unload', vectorSpaceId } satisfies EmbedRequest)
    },
  })

  /** Whether a vector space's model is ready. */
  has(vectorSpaceId: string): boolean {
    return this.loaded.has(vectorSpaceId)
  }

  /** Facts of a loaded model. */
  facts(vectorSpaceId: string): LsaFacts | undefined {
    return this.loaded.get(vectorSpaceId)
  }

  /**
   * Makes a model ready; a model over 64 MB is refused. Loading one that is ready costs nothing.
   *
   * @throws KsError `internal` when the bytes are damaged or of another version
   */
  async load(vectorSpaceId: string, bytes: Uint8Array): Promise<LsaFacts> {
    const known = this.loaded.get(vectorSpaceId)
    if (known !== undefined) return known
    if (bytes.length > MAX_MODEL_BYTES) {
      throw new KsError('internal', `an embedding model of ${bytes.length} bytes is over ${MAX_MODEL_BYTES}`)
    }
    const reply = await this.ask((id) => ({ type: 'load', id, vectorSpaceId, bytes }))
    if (reply.type !== 'loaded') throw unexpected(reply)
    this.loaded.set(vectorSpaceId, { ...reply.facts, bytes: bytes.length })
    return reply.facts
  }

  /** Forgets a model, for a vector space that is gone. */
  unload(vectorSpaceId: string): void {
    if (this.loaded.delete(vectorSpaceId)) {
      this.worker?.postMessage({ type: 'unload', vectorSpaceId } satisfies EmbedRequest)
    }
  }

  /**
   * Vectors of texts, in order. A document's text is `title + '\n' + body`.
   *
   * @throws KsError `internal` when the model is not loaded, `unavailable` when the thread ended meanwhile
   */
  async embed(vectorSpaceId: string, texts: string[], purpose: 'query' | 'document'): Promise<EmbeddedTexts> {
    this.loaded.get(vectorSpaceId)
    const reply = await this.ask((id) => ({ type: 'embed', id, vectorSpaceId, texts, purpose }))
    if (reply.type !== 'vectors') throw unexpected(reply)
    const { dimension, vectors, known, hitRate } = reply
    return {
      vectors: texts.map((_, i) => (known[i] === 1 ? vectors.slice(i * dimension, (i + 1) * dimension) : undefined)),
      hitRate,
    }
  }

  /** How telling each term is in the space (see `inverseFrequency`). Errors as `embed`. */
  async idf(vectorSpaceId: string, terms: string[]): Promise<Map<string, number>> {
    const distinct = [...new Set(terms)]
    const reply = await this.ask((id) => ({ type: 'idf', id, vectorSpaceId, terms: distinct }))
    if (reply.type !== 'idf') throw unexpected(reply)
    return new Map(distinct.map((term, i) => [term, reply.values[i] ?? 0]))
  }

  async close(): Promise<void> {
    this.closed = true
    const worker = this.worker
    this.stopped(undefined)
    await worker?.terminate()
  }

  private ask(request: (id: number) => EmbedRequest): Promise<EmbedReply> {
    if (this.closed) return Promise.reject(new KsError('unavailable', 'the embedder is closed'))
    this.worker ??= this.start()
    const { worker } = this
    const id = ++this.lastId
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject })
      // keeps the process alive while somebody waits, and only then
      worker.ref()
      worker.postMessage(request(id))
    })
  }

  private start(): Worker {
    const worker = new Worker(entryUrl(import.meta.url, './lsa-embed.worker.js'), {
      name: 'lsa-embed',
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    })
    worker.on('message', (reply: EmbedReply) => {
      const waiting = this.waiting.get(reply.id)
      this.waiting.delete(reply.id)
      if (this.waiting.size === 0) worker.unref()
      if (reply.type === 'failed') waiting?.reject(new KsError('internal', reply.message))
      else waiting?.resolve(reply)
    })
    worker.on('error', (cause) => {
      if (this.worker === worker) this.stopped(cause)
    })
    worker.on('exit', () => {
      if (this.worker === worker) this.stopped(undefined)
    })
    return worker
  }

  /** The thread has ended: those who wait are told, and the next call starts another. */
  private stopped(cause: unknown): void {
    this.worker = undefined
    this.loaded.clear()
    const error = new KsError('unavailable', 'the embedder stopped before it answered', { cause })
    for (const { reject } of this.waiting.values()) reject(error)
    this.waiting.clear()
  }
}

function unexpected(reply: EmbedReply): KsError {
  return new KsError('internal', `the embedder answered with ${JSON.stringify(reply.type)}`)
}
