import type { AudioToRead, ChatMessage, GenerationEvent, GenerationOptions, Speech, TextToSpeak } from './types.js'

/**
 * The port a provider plugin implements: plain calls, no retry, no timeout, no accounting. `guard.ts` adds those once
 * for all plugins. A call rejects with `ProviderFailure`, or soon after its signal aborts.
 */
export interface Provider {
  /** absent: the provider has no models of this kind; so with the others */
  embedder?(model: EmbeddingModel): ProviderEmbedder
  generator?(model: GenerationModel): ProviderGenerator
  reranker?(model: RerankingModel): ProviderReranker
  speaker?(model: { name: string }): ProviderSpeaker
  transcriber?(model: { name: string }): ProviderTranscriber
  /** Closes idle connections and cuts running calls. */
  close(): Promise<void>
}

export interface ProviderEmbedder {
  /**
   * Unit-length, finite vectors of one dimension, one a text; `tokens` where the provider counted them.
   *
   * @param dimension that the vectors must have, where there are some that they are to be compared with
   */
  embed(
    texts: string[],
    purpose: 'query' | 'document',
    signal: AbortSignal,
    dimension?: number,
  ): Promise<{ vectors: Float32Array[]; tokens?: number }>
}

/** `alive` = the model is at work (it thinks) but has no text to show yet. */
export type ProviderEvent = GenerationEvent | { type: 'alive' }

export interface ProviderGenerator {
  generate(messages: ChatMessage[], options: GenerationOptions, signal: AbortSignal): AsyncIterable<ProviderEvent>
}

export interface ProviderReranker {
  /** Relevance 0 to 1, in the order of the documents. */
  rerank(query: string, documents: string[], signal: AbortSignal): Promise<number[]>
}

export interface ProviderSpeaker {
  speak(what: TextToSpeak, signal: AbortSignal): Promise<Speech>
}

export interface ProviderTranscriber {
  transcribe(audio: AudioToRead, signal: AbortSignal): Promise<string>
}

export interface EmbeddingModel {
  name: string
  /** what the vectors must have; absent = whatever the first answer has */
  dimension?: number
  /** texts in one request; the provider's own where absent */
  maxBatch?: number
  /** longer texts are cut here, in UTF-16 units: for models that refuse what exceeds their window */
  maxChars?: number
  /** put before a query or a document, as models of the E5 family were trained with */
  queryPrefix?: string
  documentPrefix?: string
}

export interface GenerationModel {
  name: string
  /** sent only where given: some models refuse the field */
  temperature?: number
}

export interface RerankingModel {
  name: string
  /** `logit` = scores are squashed to 0..1; absent = decided by the first score outside 0..1 */
  scores?: 'probability' | 'logit'
}
