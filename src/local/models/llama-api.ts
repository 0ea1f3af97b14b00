/**
 * Types of the used part of node-llama-cpp 3.21.1. The package is downloaded later, so its own types are not available.
 */

export interface LlamaModule {
  getLlama(options: {
    gpu: 'auto' | false
    build: 'never'
    skipDownload: true
    progressLogs: false
    logLevel: 'disabled'
    maxThreads: number
  }): Promise<{ loadModel(options: { modelPath: string }): Promise<LlamaModel> }>
  LlamaChatSession: new (options: { contextSequence: ContextSequence; systemPrompt?: string }) => ChatSession
}

export interface LlamaModel {
  readonly trainContextSize: number
  readonly embeddingVectorSize: number
  tokenize(text: string): number[]
  createEmbeddingContext(options: ContextOptions): Promise<EmbeddingContext>
  createRankingContext(options: ContextOptions): Promise<RankingContext>
  createContext(options: ContextOptions): Promise<{ getSequence(): ContextSequence }>
}

export interface ContextOptions {
  contextSize: number
  /** an encoder sees all tokens of a text at once: the size of its context */
  batchSize?: number
  threads: number
}

export interface EmbeddingContext {
  /** fails where the tokens, and two that it adds, do not fit the context */
  getEmbeddingFor(input: number[]): Promise<{ readonly vector: readonly number[] }>
}

export interface RankingContext {
  /** `maxChunk`: a document that does not fit is ranked in parts, and gets the score of the best one */
  rank(query: string, document: string, options: { onOverflow: 'maxChunk' }): Promise<number>
}

export interface ContextSequence {
  clearHistory(): Promise<void>
}

export type ChatItem =
  | { type: 'system'; text: string }
  | { type: 'user'; text: string }
  | { type: 'model'; response: string[] }

export interface ChatSession {
  setChatHistory(history: ChatItem[]): void
  promptWithMeta(
    prompt: string,
    options: {
      signal: AbortSignal
      stopOnAbortSignal: true
      onTextChunk: (text: string) => void
      maxTokens?: number
      temperature?: number
      budgets: { thoughtTokens: number }
    },
  ): Promise<{ responseText: string; stopReason: string }>
  dispose(options: { disposeSequence: boolean }): void
}
