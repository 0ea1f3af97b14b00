/** Interfaces of models as the engine uses them: each one method plus facts. */

import type { ModelReference } from '../base/model-reference.js'
import type { GenerationUsage, TokenMeter } from './meter.js'

export interface Embedder {
  readonly reference: ModelReference
  /** maximal number of texts per call */
  readonly maxBatch: number
  /**
   * Unit-length vectors of one dimension, one per text.
   * @throws KsError `provider-failed` when the model fails
   */
  embed(texts: string[], purpose: 'query' | 'document', signal?: AbortSignal): Promise<Float32Array[]>
}

/** A picture in a message to a model. */
export interface ChatImage {
  mimeType: string
  base64: string
  /** requested resolution of the model's analysis */
  detail: 'low' | 'high' | 'auto'
}

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string
  images?: ChatImage[]
  /** tool calls of an assistant's message */
  toolCalls?: ToolCall[]
  /** the call that a message of role `tool` answers */
  toolCallId?: string
}

/** A tool that a model may call; its arguments as a JSON Schema of an object. */
export interface ToolSpec {
  name: string
  description: string
  parameters: Record<string, unknown>
}

export interface ToolCall {
  id: string
  name: string
  /** JSON text as the model wrote it, possibly invalid */
  arguments: string
}

export interface GenerationOptions {
  maxTokens?: number
  /** overrides the provider's settings */
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
      /** calls whose results the model needs to continue; absent = none */
      toolCalls?: ToolCall[]
    }

export interface Generator {
  readonly reference: ModelReference
  /** maximal tokens of a request together with its answer */
  readonly contextTokens: number
  /**
   * Streams an answer; ends with exactly one `end`. Stops when the signal aborts.
   *
   * @param options `urgent: false`: a background call, with the timeout of those
   */
  generate(
    messages: ChatMessage[],
    options: GenerationOptions & { signal?: AbortSignal; meter?: TokenMeter; urgent?: boolean },
  ): AsyncIterable<GenerationEvent>
}

export interface RerankModel {
  readonly reference: ModelReference
  /** Relevance of each document to the query, 0 to 1, in the given order. */
  rerank(query: string, documents: string[], signal?: AbortSignal): Promise<number[]>
}

export interface SpeechRequest {
  text: string
  /** absent or empty = the model's default */
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
  speak(request: SpeechRequest, signal?: AbortSignal): Promise<Speech>
}

export interface AudioRecording {
  bytes: Uint8Array
  /** lower case, without a dot */
  extension: string
  mimeType: string
  language?: string
}

/** A segment of speech, in seconds from the start. */
export interface SpokenSegment {
  start: number
  end: number
  text: string
}

/** The transcript of a recording, as the provider returned it. */
export interface Transcript {
  /** of a program: its complete output, which may be subtitles or JSON */
  text: string
  segments?: SpokenSegment[]
}

export interface Transcriber {
  readonly reference: ModelReference
  /** Transcribes short speech; '' without words. @throws KsError `provider-failed` */
  transcribe(audio: AudioRecording, signal?: AbortSignal): Promise<string>
  /**
   * Transcribes a recording in the background, with times where the model returns them. The timeout grows with the size
   * of the recording.
   *
   * @throws KsError `provider-failed`
   */
  listen(recording: AudioRecording, signal?: AbortSignal): Promise<Transcript>
}
