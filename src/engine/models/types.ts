/** What a model does for the engine. Each interface is one method plus facts. */

/** Names a model: the only reference to a model that crosses the API. */
export interface ModelReference {
  pluginId: string
  provider: string
  model: string
}

export interface Embedder {
  readonly reference: ModelReference
  /** texts in one call at most */
  readonly maxBatch: number
  /**
   * Unit-length vectors, one a text, all of one dimension.
   * @throws KsError `provider-failed` when the model cannot answer
   */
  embed(texts: string[], purpose: 'query' | 'document', signal?: AbortSignal): Promise<Float32Array[]>
}

/** A picture that a model is shown with a message. */
export interface ChatImage {
  mimeType: string
  base64: string
  /** how closely the model is asked to look */
  detail: 'low' | 'high' | 'auto'
}

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant'
  content: string
  images?: ChatImage[]
}

export interface GenerationUsage {
  inputTokens?: number
  outputTokens?: number
}

export type GenerationEvent =
  | { type: 'delta'; text: string }
  | { type: 'end'; finishReason: string; usage?: GenerationUsage; metadata?: Record<string, unknown> }

export interface Generator {
  readonly reference: ModelReference
  /** Streams an answer; ends with exactly one `end`. Stops when the signal aborts. */
  generate(
    messages: ChatMessage[],
    options: { maxTokens?: number; signal?: AbortSignal },
  ): AsyncIterable<GenerationEvent>
}

export interface RerankModel {
  readonly reference: ModelReference
  /** Relevance of each document to the query, 0 to 1, in the order given. */
  rerank(query: string, documents: string[], signal?: AbortSignal): Promise<number[]>
}
