import { KsError } from '../../../contract/errors.js'
import { EmbedThread, MAX_LOADED_MODEL_BYTES, unexpectedReply } from './embed-thread.js'
import type { EmbedPurpose, LsaFacts } from './lsa-messages.js'

export interface EmbeddedTexts {
  /** unit length; undefined where the model knows no term of the text */
  vectors: (Float32Array | undefined)[]
}

/**
 * The embedding models of all spaces, in threads that start with the first model; each thread has all models in use.
 * Documents go to the least busy thread, queries to the first one, where they overtake documents. After a thread's
 * crash its models must be loaded again (see `has`).
 */
export class LsaEmbedder {
  readonly #threads: readonly EmbedThread[]
  readonly #first: EmbedThread

  /** @param threads number of threads that embed documents concurrently */
  constructor(threads = 1) {
    this.#first = new EmbedThread()
    this.#threads = [this.#first, ...Array.from({ length: Math.max(1, threads) - 1 }, () => new EmbedThread())]
  }

  /** Number of texts that can be embedded concurrently. */
  get threads(): number {
    return this.#threads.length
  }

  /** Whether the model of a vector space is loaded. */
  has(vectorSpaceId: string): boolean {
    return this.#threads.every((thread) => thread.has(vectorSpaceId))
  }

  /**
   * Loads a model; a model over 64 MB is rejected. Loading a loaded model costs nothing.
   *
   * @throws KsError `internal` when the bytes are damaged or of another version
   */
  async load(vectorSpaceId: string, bytes: Uint8Array): Promise<LsaFacts> {
    if (bytes.length > MAX_LOADED_MODEL_BYTES) {
      throw new KsError('internal', `an embedding model of ${bytes.length} bytes is over ${MAX_LOADED_MODEL_BYTES}`)
    }
    // waits for all of them, so that no thread keeps a model that another one rejected
    const loading = this.#threads.map((thread) => thread.load(vectorSpaceId, bytes))
    await Promise.allSettled(loading)
    const [facts] = await Promise.all(loading)
    if (facts === undefined) throw new KsError('internal', 'no embedding thread')
    return facts
  }

  /** Unloads the model of a removed vector space. */
  unload(vectorSpaceId: string): void {
    for (const thread of this.#threads) thread.unload(vectorSpaceId)
  }

  /**
   * Vectors of texts, in order. A document's text is `title + '\n' + body`.
   *
   * @throws KsError `internal` when the model is not loaded, `unavailable` when the thread ended meanwhile
   */
  async embed(vectorSpaceId: string, texts: string[], purpose: EmbedPurpose): Promise<EmbeddedTexts> {
    const thread = purpose === 'document' ? this.#leastBusy() : this.#first
    thread.markUsed(vectorSpaceId)
    const reply = await thread.request((id) => ({ type: 'embed', id, vectorSpaceId, texts, purpose }))
    if (reply.type !== 'vectors') throw unexpectedReply(reply)
    const { dimension, vectors, known } = reply
    return {
      vectors: texts.map((_, i) => (known[i] === 1 ? vectors.slice(i * dimension, (i + 1) * dimension) : undefined)),
    }
  }

  /** Inverse document frequency of each term in the space (see `inverseFrequency`). Errors as `embed`. */
  async idf(vectorSpaceId: string, terms: string[]): Promise<Map<string, number>> {
    const distinct = [...new Set(terms)]
    const reply = await this.#first.request((id) => ({ type: 'idf', id, vectorSpaceId, terms: distinct }))
    if (reply.type !== 'idf') throw unexpectedReply(reply)
    return new Map(distinct.map((term, i) => [term, reply.values[i] ?? 0]))
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()))
  }

  /** Of equally busy threads the last one: the first one answers queries. */
  #leastBusy(): EmbedThread {
    return this.#threads.reduce((best, thread) => (thread.pendingCount <= best.pendingCount ? thread : best))
  }
}
