/** What a model does for the engine. Each interface is one method plus facts. */

import type { ModelReference } from '../base/model-reference.js'
import type { GenerationUsage, TokenMeter } from './meter.js'

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
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string
  images?: ChatImage[]
  /** what an assistant asked for with this message */
  toolCalls?: ToolCall[]
  /** the call that a message of role `tool` answers */
  toolCallId?: string
}

/** A tool that a model may call, its arguments as a JSON Schema of an object. */
export interface ToolSpec {
  name: string
  description: string
  parameters: Record<string, unknown>
}

export interface ToolCall {
  id: string
  name: string
  /** JSON text as the model wrote it, which may be no JSON */
  arguments: string
}

export interface GenerationOptions {
  maxTokens?: number
  /** over that of the provider's settings */
  temperature?: number
  tools?: ToolSpec[]
}

export type GenerationEvent =
  | { type: 'delta'; text: string }
  | {
      type: 'end'
      finishReason: string
      usage?: GenerationUsage
      metadata?: Record<string, unknown>
      /** what the model wants to know before it goes on; absent = nothing */
      toolCalls?: ToolCall[]
    }

export interface Generator {
  readonly reference: ModelReference
  /** tokens of a question with everything that it is asked from, and of its answer, at most */
  readonly contextTokens: number
  /**
   * Streams an answer; ends with exactly one `end`. Stops when the signal aborts.
   *
   * @param options `urgent` false: nobody waits for it, as where documents are read; it has the time limit of those
   */
  generate(
    messages: ChatMessage[],
    options: GenerationOptions & { signal?: AbortSignal; meter?: TokenMeter; urgent?: boolean },
  ): AsyncIterable<GenerationEvent>
}

export interface RerankModel {
  readonly reference: ModelReference
  /** Relevance of each document to the query, 0 to 1, in the order given. */
  rerank(query: string, documents: string[], signal?: AbortSignal): Promise<number[]>
}

export interface TextToSpeak {
  text: string
  /** the model's own where absent or empty */
  voice?: string
  language?: string
}

/** Audio of some text. */
export interface Speech {
  audio: Buffer
  mimeType: string
}

export interface Speaker {
  readonly reference: ModelReference
  /** @throws KsError `provider-failed` */
  speak(what: TextToSpeak, signal?: AbortSignal): Promise<Speech>
}

export interface AudioToRead {
  bytes: Uint8Array
  /** lower case, without a dot */
  extension: string
  mimeType: string
  language?: string
}

/** A piece of speech, in seconds from the beginning. */
export interface SpokenSegment {
  start: number
  end: number
  text: string
}

/** What is said in a recording, as the provider wrote it down. */
export interface Transcript {
  /** of a program: whatever it wrote, which may be subtitles or JSON */
  text: string
  segments?: SpokenSegment[]
}

export interface Transcriber {
  readonly reference: ModelReference
  /** The words that are said, '' where none are. @throws KsError `provider-failed` */
  transcribe(audio: AudioToRead, signal?: AbortSignal): Promise<string>
  /**
   * Writes down a recording that nobody waits for, with the times where the model tells them. It may take as long as a
   * recording of its size takes.
   *
   * @throws KsError `provider-failed`
   */
  listen(recording: AudioToRead, signal?: AbortSignal): Promise<Transcript>
}
