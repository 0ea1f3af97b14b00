import type { ModelTask } from './pulled.js'

/** How a process of the runtime is started. */
export interface LlamaStart {
  /** module of the runtime */
  entry: string
  /** GGUF file */
  weights: string
  task: ModelTask
  /** tokens at most; the model's own where those are fewer */
  contextTokens: number
  threads: number
}

export interface ChatTurn {
  role: 'system' | 'user' | 'assistant'
  content: string
}

export interface ChatLimits {
  maxTokens?: number | undefined
  temperature?: number | undefined
}

/** A request of the process that uses the model. */
export type LlamaRequest =
  /** `urgent`: before texts of requests that are not */
  | { op: 'embed'; texts: string[]; urgent: boolean }
  | { op: 'rank'; query: string; documents: string[] }
  | ({ op: 'chat'; turns: ChatTurn[] } & ChatLimits)

export type ToLlama = (LlamaRequest & { id: number }) | { op: 'cancel'; id: number }

/** Vectors of unit length, relevance from 0 to 1, or how an answer ended. `tokens`: read, and written. */
export type LlamaReply =
  | { op: 'embed'; vectors: Float32Array[]; tokens: number }
  | { op: 'rank'; scores: number[] }
  | { op: 'chat'; finishReason: string; inputTokens: number; outputTokens: number }

/** `too-long`: the request does not fit the model's window. */
export type LlamaFault = 'too-long' | 'failed'

export type FromLlama =
  /** the model is loaded */
  | { type: 'ready'; contextTokens: number; dimension: number | undefined }
  /** the model cannot be loaded; the process ends */
  | { type: 'unloadable'; reason: string }
  | { type: 'delta'; id: number; text: string }
  | { type: 'done'; id: number; reply: LlamaReply }
  | { type: 'failed'; id: number; fault: LlamaFault; reason: string }
