import type { EmbeddingModel, GenerationModel, RerankingModel } from '../base/provider-config.js'
import type { ModelKind } from './provider-config.js'
import type {
  AudioRecording,
  ChatMessage,
  GenerationEvent,
  GenerationOptions,
  Speech,
  SpeechRequest,
  Transcript,
} from './types.js'

/**
 * The port that a provider plugin implements: plain calls without retry, timeout or accounting. `guard.ts` adds those
 * once for all plugins. A call rejects with `ProviderFailure`, or soon after its signal aborts.
 */
export interface ModelProvider {
  /** absent: the provider has no models of this kind; the same applies to the methods below */
  embedder?(model: EmbeddingModel): ProviderEmbedder
  generator?(model: GenerationModel): ProviderGenerator
  reranker?(model: RerankingModel): ProviderReranker
  speaker?(model: { name: string }): ProviderSpeaker
  transcriber?(model: { name: string }): ProviderTranscriber
  /** Names of its models of a kind, where they change while the daemon runs; absent: the settings list them. */
  listOffered?(kind: ModelKind): string[]
  /** Closes idle connections and cuts running calls. */
  close(): Promise<void>
}

export interface ProviderEmbedder {
  /**
   * Unit-length, finite vectors of one dimension, one per text; `tokens` where the provider counted them.
   *
   * @param dimension required dimension, where the vectors are compared with existing ones
   */
  embed(
    texts: string[],
    purpose: 'query' | 'document',
    signal: AbortSignal,
    dimension?: number,
  ): Promise<{ vectors: Float32Array[]; tokens?: number }>
}

/** `alive` = the model is working (reasoning) without text so far. */
export type ProviderEvent = GenerationEvent | { type: 'alive' }

export interface ProviderGenerator {
  generate(messages: ChatMessage[], options: GenerationOptions, signal: AbortSignal): AsyncIterable<ProviderEvent>
}

export interface ProviderReranker {
  /** Relevance 0 to 1, in the order of the documents. */
  rerank(query: string, documents: string[], signal: AbortSignal): Promise<number[]>
}

export interface ProviderSpeaker {
  speak(request: SpeechRequest, signal: AbortSignal): Promise<Speech>
}

export interface ProviderTranscriber {
  transcribe(audio: AudioRecording, signal: AbortSignal): Promise<string>
  listen(recording: AudioRecording, signal: AbortSignal): Promise<Transcript>
}
