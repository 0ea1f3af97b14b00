import type { ChatError } from '../../../contract/chat/errors.js'
import type { AgentThought, ChatAnswerMetadata, ChatCompletion, ChatFrame } from '../../../contract/chat/messages.js'
import {
  buildCommonFields,
  createEndFrame,
  createErrorFrame,
  createPingFrame,
  createReplaceFrame,
  createTextFrames,
  createThoughtFrame,
  type TurnIds,
} from './frames.js'

/** Time during which a finished turn can be replayed. */
export const REPLAY_MS = 600_000

/** The owner of a turn, with the name of the end user. */
export interface TurnSender {
  appId: string
  user: string
  isVisitor?: boolean
}

/** The frames of one message and its answer. It is independent of its readers, who may disconnect and reconnect. */
export interface ChatStream {
  ids: TurnIds
  ping(): ChatFrame
  /** All frames from the first one, until the answer is stored. */
  frames(): AsyncGenerator<ChatFrame>
}

/** A turn of this gateway. */
export interface ChatTurn extends ChatStream {
  /**
   * The complete answer, once it is stored.
   * @throws ChatError if the turn failed
   */
  completion(): Promise<ChatCompletion>
}

/** Reads the answer aloud while it is generated. */
export interface TurnVoice {
  add(text: string): void
  /** The answer is complete; `endAudio` follows. */
  finish(): void
  stop(): void
}

/** A turn in progress, as its runner sees it. */
export class RunningTurn implements ChatTurn {
  readonly sender: TurnSender
  readonly ids: TurnIds
  readonly started = performance.now()
  /** The text is fixed; no model is called. */
  settled = false
  readonly #abort = new AbortController()
  #frames: ChatFrame[] = []
  #readers = 0
  #voice: TurnVoice | undefined
  readonly #ended: Promise<void>
  #end: () => void = () => {}
  #wake: (() => void)[] = []
  #over = false
  #answer = ''
  #metadata: ChatAnswerMetadata | undefined
  #error: ChatError | undefined

  constructor(sender: TurnSender, ids: TurnIds) {
    this.sender = sender
    this.ids = ids
    this.#ended = new Promise((resolve) => {
      this.#end = resolve
    })
  }

  /** Aborts with the reason for which the turn is aborted. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  get answer(): string {
    return this.#answer
  }

  get over(): boolean {
    return this.#over
  }

  get failed(): boolean {
    return this.#error !== undefined
  }

  abort(reason: 'stopped' | 'closing'): void {
    this.#abort.abort(reason)
    this.#voice?.stop()
  }

  /** Sets the voice of the turn, before its first text. */
  setVoice(voice: TurnVoice): void {
    this.#voice = voice
  }

  /** Sends audio of the text so far, in base64. */
  sendAudio(audio: string): void {
    this.#push({ event: 'tts_message', ...buildCommonFields(this.ids), audio })
  }

  /** Ends the audio, and with it the frames. */
  endAudio(): void {
    this.#close({ event: 'tts_message_end', ...buildCommonFields(this.ids), audio: '' })
  }

  sendText(text: string, event: 'message' | 'agent_message'): void {
    this.#answer += text
    for (const frame of createTextFrames(this.ids, text, event)) this.#push(frame)
    this.#voice?.add(text)
  }

  sendThought(step: AgentThought): void {
    this.#push(createThoughtFrame(this.ids, step))
  }

  /** Replaces all previous text. */
  replace(text: string): void {
    this.#answer = text
    this.#voice?.stop()
    this.#push(createReplaceFrame(this.ids, text))
  }

  finish(metadata: ChatAnswerMetadata): void {
    this.#metadata = metadata
    const frame = createEndFrame(this.ids, metadata)
    if (this.#voice === undefined) {
      this.#close(frame)
      return
    }
    // The answer is complete; pending audio only delays the end of the stream.
    this.#push(frame)
    this.#end()
    this.#voice.finish()
  }

  fail(error: ChatError): void {
    this.#error = error
    this.#voice?.stop()
    this.#close(createErrorFrame(this.ids, error))
  }

  ended(): Promise<void> {
    return this.#ended
  }

  ping(): ChatFrame {
    return createPingFrame(this.ids)
  }

  async *frames(): AsyncGenerator<ChatFrame> {
    this.#readers++
    try {
      for (let next = 0; ; ) {
        const frame = this.#frames[next]
        if (frame !== undefined) {
          next++
          yield frame
        } else if (this.#over) return
        else await new Promise<void>((resolve) => this.#wake.push(resolve))
      }
    } finally {
      this.#readers--
      // Without readers no audio is needed; the answer continues.
      if (this.#readers === 0) this.#voice?.stop()
      this.#dropAudio()
    }
  }

  async completion(): Promise<ChatCompletion> {
    await this.#ended
    if (this.#metadata === undefined) throw this.#error ?? new Error('the turn ended without an answer')
    return {
      event: 'message',
      id: this.ids.messageId,
      ...buildCommonFields(this.ids),
      mode: 'chat',
      answer: this.#answer,
      metadata: this.#metadata,
    }
  }

  #push(frame: ChatFrame): void {
    this.#frames.push(frame)
    for (const wake of this.#wake.splice(0)) wake()
  }

  #close(frame: ChatFrame): void {
    this.#over = true
    this.#push(frame)
    this.#end()
    this.#dropAudio()
  }
  /** Replays of a finished turn omit audio, which would fill the memory. */
  #dropAudio(): void {
    if (this.#over && this.#readers === 0) this.#frames = this.#frames.filter(({ event }) => event !== 'tts_message')
  }
}
