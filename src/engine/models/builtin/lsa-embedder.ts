import { KsError } from '../../../contract/errors.js'
import { EmbedThread, MAX_MODEL_BYTES, unexpected } from './embed-thread.js'
import type { EmbedPurpose, LsaFacts } from './lsa-messages.js'

export interface EmbeddedTexts {
  /** unit length; nothing where the model knows no term of the text */
  vectors: (Float32Array | undefined)[]
  /** share of the texts' terms that the model knows, 0 to 1: a falling rate asks for a retraining */
  hitRate: number
}

/**
 * The embedded models of all spaces, in threads that start with the first model: each has all models in use. Documents go
 * to the thread that has least to do, queries to the first one, where they overtake documents. After the crash of a thread
 * its models have to be loaded anew (`has` says so).
 */
export class LsaEmbedding {
  readonly #threads: readonly EmbedThread[]
  readonly #first: EmbedThread

  /** @param threads that embed documents at the same time */
  constructor(threads = 1) {
    this.#first = new EmbedThread()
    this.#threads = [this.#first, ...Array.from({ length: Math.max(1, threads) - 1 }, () => new EmbedThread())]
  }

  /** How many texts can be embedded at the same time. */
  get threads(): number {
    return this.#threads.length
  }

  /** Whether a vector space's model is ready. */
  has(vectorSpaceId: string): boolean {
    return this.#threads.every((thread) => thread.has(vectorSpaceId))
  }

  /** Facts of a loaded model. */
  facts(vectorSpaceId: string): LsaFacts | undefined {
    return this.#first.facts(vectorSpaceId)
  }

  /**
   * Makes a model ready; a model over 64 MB is refused. Loading one that is ready costs nothing.
   *
   * @throws KsError `internal` when the bytes are damaged or of another version
   */
  async load(vectorSpaceId: string, bytes: Uint8Array): Promise<LsaFacts> {
    if (bytes.length > MAX_MODEL_BYTES) {
      throw new KsError('internal', `an embedding model of ${bytes.length} bytes is over ${MAX_MODEL_BYTES}`)
    }
    // all of them end before this does, so that none is left with what another refused
    const loading = this.#threads.map((thread) => thread.load(vectorSpaceId, bytes))
    await Promise.allSettled(loading)
    const [facts] = await Promise.all(loading)
    if (facts === undefined) throw new KsError('internal', 'there is no thread that embeds')
    return facts
  }

  /** Forgets a model, for a vector space that is gone. */
  unload(vectorSpaceId: string): void {
    for (const thread of this.#threads) thread.unload(vectorSpaceId)
  }

  /**
   * Vectors of texts, in order. A document's text is `title + '\n' + body`.
   *
   * @throws KsError `internal` when the model is not loaded, `unavailable` when the thread ended meanwhile
   */
  async embed(vectorSpaceId: string, texts: string[], purpose: EmbedPurpose): Promise<EmbeddedTexts> {
    const thread = purpose === 'document' ? this.#idlest() : this.#first
    thread.facts(vectorSpaceId)
    const reply = await thread.ask((id) => ({ type: 'embed', id, vectorSpaceId, texts, purpose }))
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
    const reply = await this.#first.ask((id) => ({ type: 'idf', id, vectorSpaceId, terms: distinct }))
    if (reply.type !== 'idf') throw unexpected(reply)
    return new Map(distinct.map((term, i) => [term, reply.values[i] ?? 0]))
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()))
  }

  /** Of several with as little to do the last one: queries are answered in the first. */
  #idlest(): EmbedThread {
    return this.#threads.reduce((best, one) => (one.waiting <= best.waiting ? one : best))
  }
}
