import type { Readable } from 'node:stream'
import { ChatError } from '../../../../contract/chat/errors.js'
import { CHAT_LIMITS } from '../../../../contract/chat/limits.js'
import type { EngineContext } from '../../../library/index.js'
import { toChatError } from '../answer.js'
import type { AppSession } from '../apps.js'
import { type AudioFormat, detectAudioFormat } from './audio-format.js'
import { getTranscriptionModel } from './voices.js'

export interface IncomingAudio {
  filename: string
  mimeType: string
  content: Readable
}

/** One file to transcribe: its bytes first, because forms send the user last. */
export interface Transcription {
  /** @throws ChatError `unsupported_audio_type`, `audio_too_large` */
  receive(file: IncomingAudio): Promise<void>
  /**
   * @returns the transcript, '' for silence.
   * @throws ChatError
   */
  transcribe(signal: AbortSignal): Promise<string>
  /** Must be called once, whatever the outcome. */
  end(): void
}

/** Each file is held in memory. */
const MAX_CONCURRENT_FILES = 8

/** Transcribes audio of end users, with a limited number of concurrent files. */
export class Transcriptions {
  readonly #context: EngineContext
  #busy = 0

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Admits a file before any of its bytes are read.
   *
   * @throws ChatError `app_unavailable` if disabled, `provider_not_support_speech_to_text`, `too_many_requests`
   */
  open({ app }: AppSession): Transcription {
    if (!app.speechToText.enabled) throw new ChatError('app_unavailable', 'Speech to text is not enabled.')
    const model = getTranscriptionModel(this.#context, app)
    if (model === undefined)
      throw new ChatError('provider_not_support_speech_to_text', 'Provider not support speech to text.')
    if (this.#busy >= MAX_CONCURRENT_FILES)
      throw new ChatError('too_many_requests', `the service is already transcribing ${MAX_CONCURRENT_FILES} files`)
    this.#busy += 1
    let ended = false
    let received: { bytes: Buffer; format: AudioFormat } | undefined
    return {
      receive: async (file) => {
        received = await receiveAudio(file)
      },
      transcribe: async (signal) => {
        if (received === undefined) throw createNoAudioError()
        const { bytes, format } = received
        const { language } = app.speechToText
        try {
          return await this.#context.models.transcriber(model).transcribe({ bytes, ...format, language }, signal)
        } catch (error) {
          throw toChatError(error)
        }
      },
      end: () => {
        if (!ended) this.#busy -= 1
        ended = true
      },
    }
  }
}

async function receiveAudio({ filename, mimeType, content }: IncomingAudio) {
  const chunks: Buffer[] = []
  let size = 0
  for await (const part of content) {
    const chunk: Buffer = Buffer.isBuffer(part) ? part : Buffer.from(part)
    size += chunk.length
    if (size > CHAT_LIMITS.audioBytes)
      throw new ChatError('audio_too_large', `Audio size exceeded: it has at most ${CHAT_LIMITS.audioBytes} bytes.`)
    chunks.push(chunk)
  }
  const bytes = Buffer.concat(chunks)
  if (bytes.length === 0) throw createNoAudioError()
  const format = await detectAudioFormat(bytes, filename, mimeType)
  if (format !== undefined) return { bytes, format }
  throw new ChatError(
    'unsupported_audio_type',
    'Audio type not allowed: it must be mp3, mp4, mpeg, mpga, m4a, wav or webm.',
  )
}

function createNoAudioError(): ChatError {
  return new ChatError('no_audio_uploaded', 'Please upload your audio.')
}
