import type { ChatApp } from '../../../contract/chat/apps.js'
import { Thinking } from '../../../lib/text/thinking.js'
import type { EngineContext } from '../../context.js'
import type { Speaker } from '../../models/types.js'
import type { RunningTurn, Voice } from '../turn.js'
import { Joiner } from './joiner.js'
import { speakable, takeSentences } from './sentences.js'
import { speechModel } from './voices.js'

/** Has a turn read its answer aloud; the caller knows that there is a model for it. */
export function giveVoice(context: EngineContext, app: ChatApp, turn: RunningTurn): void {
  const model = speechModel(context, app)
  if (model === undefined) return
  const { voice, language } = app.textToSpeech
  const out = { audio: (base64: string) => turn.sound(base64), end: () => turn.hush() }
  turn.speakWith(new AutoPlay(context, context.models.speaker(model), { voice, language }, out))
}

/** Where the audio of an answer goes. */
interface AudioOut {
  audio(base64: string): void
  /** once, after the last audio */
  end(): void
}

/** one event holds this much, so that events stay small */
const CHUNK_BYTES = 16 * 1024
/** of one answer; what would be more stays unspoken */
const MAX_AUDIO_BYTES = 32 * 1024 * 1024

/** Reads an answer aloud while it is being written, sentence by sentence. A voice that fails is silent from then on. */
class AutoPlay implements Voice {
  readonly #context: EngineContext
  readonly #speaker: Speaker
  readonly #how: { voice: string; language: string }
  readonly #out: AudioOut
  readonly #abort = new AbortController()
  readonly #joiner = new Joiner()
  /** what a model thinks is not for the ear */
  readonly #thinking = new Thinking()
  #unspoken = ''
  #queue: string[] = []
  #complete = false
  #speaking = false
  #bytes = 0

  constructor(context: EngineContext, speaker: Speaker, how: { voice: string; language: string }, out: AudioOut) {
    this.#context = context
    this.#speaker = speaker
    this.#how = how
    this.#out = out
  }

  add(text: string): void {
    this.#unspoken += this.#thinking.add(text)
    const { pieces, rest } = takeSentences(this.#unspoken)
    this.#unspoken = rest
    this.#queue.push(...pieces)
    void this.#speak()
  }

  /** The answer is complete: what is left is spoken, then the audio ends. */
  finish(): void {
    this.#complete = true
    this.#queue.push(this.#unspoken + this.#thinking.end())
    void this.#speak()
  }

  /** Nothing more is spoken; `end` of the output follows at `finish`. */
  stop(): void {
    this.#abort.abort()
  }

  async #speak(): Promise<void> {
    if (this.#speaking) return
    this.#speaking = true
    try {
      for (let piece = this.#queue.shift(); piece !== undefined; piece = this.#queue.shift()) await this.#say(piece)
    } catch (error) {
      if (!this.#abort.signal.aborted)
        this.#context.log.warn({ error: String(error) }, 'an answer could not be read aloud')
      this.stop()
    }
    this.#speaking = false
    if (this.#complete && (this.#queue.length === 0 || this.#abort.signal.aborted)) this.#out.end()
  }

  async #say(piece: string): Promise<void> {
    this.#abort.signal.throwIfAborted()
    const text = speakable(piece)
    if (text === '') return
    const sound = this.#joiner.next(await this.#speaker.speak({ text, ...this.#how }, this.#abort.signal))
    this.#bytes += sound.length
    if (this.#bytes > MAX_AUDIO_BYTES) throw new Error(`more than ${MAX_AUDIO_BYTES} bytes of audio`)
    for (let at = 0; at < sound.length; at += CHUNK_BYTES)
      this.#out.audio(sound.subarray(at, at + CHUNK_BYTES).toString('base64'))
  }
}
