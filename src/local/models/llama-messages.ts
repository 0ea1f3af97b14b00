import type { ModelTask } from './pulled.js'

/** Arguments of a process of the runtime. */
export interface LlamaStart {
  /** module of the runtime */
  entry: string
  /** GGUF file */
  weights: string
  task: ModelTask
  /** limit in tokens; a lower limit of the model applies */
  contextTokens: number
  threads: number
}

export interface LlamaChatTurn {
  role: 'system' | 'user' | 'assistant'
  content: string
}

export interface ChatLimits {
  maxTokens?: number | undefined
  temperature?: number | undefined
}

/** A request to the process that runs the model. */
export type LlamaRequest =
  /** `urgent`: embedded before the texts of requests that are not urgent */
  | { op: 'embed'; texts: string[]; urgent: boolean }
  | { op: 'rank'; query: string; documents: string[] }
  | ({ op: 'chat'; turns: LlamaChatTurn[] } & ChatLimits)

export type LlamaParentMessage = (LlamaRequest & { id: number }) | { op: 'cancel'; id: number }

/** Vectors of unit length, relevance from 0 to 1, or the end of an answer. `tokens` counts tokens of the texts. */
export type LlamaReply =
  | { op: 'embed'; vectors: Float32Array[]; tokens: number }
  | { op: 'rank'; scores: number[] }
  | { op: 'chat'; finishReason: string; inputTokens: number; outputTokens: number }

/** `too-long`: the request does not fit the model's window. */
export type LlamaFault = 'too-long' | 'failed'

export type LlamaChildMessage =
  /** the model is loaded */
  | { type: 'ready'; contextTokens: number; dimension: number | undefined }
  /** the model cannot be loaded; the process ends */
  | { type: 'unloadable'; reason: string }
  | { type: 'delta'; id: number; text: string }
  | { type: 'done'; id: number; reply: LlamaReply }
  | { type: 'failed'; id: number; fault: LlamaFault; reason: string }
