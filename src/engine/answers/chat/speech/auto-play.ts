import type { ChatApp } from '../../../../contract/chat/apps.js'
import { ThoughtSeparator } from '../../../../lib/text/thinking.js'
import type { EngineContext } from '../../../library/index.js'
import type { Speaker } from '../../../models/index.js'
import type { RunningTurn, TurnVoice } from '../turn.js'
import { AudioJoiner } from './joiner.js'
import { takeSentences, toSpeakableText } from './sentences.js'
import { getSpeechModel } from './voices.js'

/** Reads the answer of a turn aloud; the caller has checked that a speech model exists. */
export function enableAutoPlay(context: EngineContext, app: ChatApp, turn: RunningTurn): void {
  const model = getSpeechModel(context, app)
  if (model === undefined) return
  const { voice, language } = app.textToSpeech
  const out = { audio: (base64: string) => turn.sendAudio(base64), end: () => turn.endAudio() }
  turn.setVoice(new AutoPlay(context, context.models.speaker(model), { voice, language }, out))
}

/** Receiver of the audio of an answer. */
interface AudioSink {
  audio(base64: string): void
  /** Called once, after the last audio. */
  end(): void
}

/** Audio bytes of one event, to keep events small. */
const CHUNK_BYTES = 16 * 1024
/** Maximum audio of one answer; the rest is not spoken. */
const MAX_AUTO_PLAY_BYTES = 32 * 1024 * 1024

/** Converts an answer to speech while it is generated, sentence by sentence. After a failure it stays silent. */
class AutoPlay implements TurnVoice {
  readonly #context: EngineContext
  readonly #speaker: Speaker
  readonly #voiceOptions: { voice: string; language: string }
  readonly #sink: AudioSink
  readonly #abort = new AbortController()
  readonly #joiner = new AudioJoiner()
  /** The reasoning of a model is not spoken. */
  readonly #thinking = new ThoughtSeparator()
  #unspoken = ''
  #queue: string[] = []
  #complete = false
  #speaking = false
  #bytes = 0

  constructor(
    context: EngineContext,
    speaker: Speaker,
    voiceOptions: { voice: string; language: string },
    out: AudioSink,
  ) {
    this.#context = context
    this.#speaker = speaker
    this.#voiceOptions = voiceOptions
    this.#sink = out
  }

  add(text: string): void {
    this.#unspoken += this.#thinking.add(text)
    const { pieces, rest } = takeSentences(this.#unspoken)
    this.#unspoken = rest
    this.#queue.push(...pieces)
    void this.#speak()
  }

  /** The answer is complete: speaks the rest, then ends the audio. */
  finish(): void {
    this.#complete = true
    this.#queue.push(this.#unspoken + this.#thinking.end())
    void this.#speak()
  }

  /** Stops speaking; `end` of the sink is called after `finish`. */
  stop(): void {
    this.#abort.abort()
  }

  async #speak(): Promise<void> {
    if (this.#speaking) return
    this.#speaking = true
    try {
      for (let part = this.#queue.shift(); part !== undefined; part = this.#queue.shift()) await this.#speakPart(part)
    } catch (error) {
      if (!this.#abort.signal.aborted)
        this.#context.log.warn({ error: String(error) }, 'an answer could not be read aloud')
      this.stop()
    }
    this.#speaking = false
    if (this.#complete && (this.#queue.length === 0 || this.#abort.signal.aborted)) this.#sink.end()
  }

  async #speakPart(part: string): Promise<void> {
    this.#abort.signal.throwIfAborted()
    const text = toSpeakableText(part)
    if (text === '') return
    const sound = this.#joiner.append(await this.#speaker.speak({ text, ...this.#voiceOptions }, this.#abort.signal))
    this.#bytes += sound.length
    if (this.#bytes > MAX_AUTO_PLAY_BYTES) throw new Error(`more than ${MAX_AUTO_PLAY_BYTES} bytes of audio`)
    for (let start = 0; start < sound.length; start += CHUNK_BYTES)
      this.#sink.audio(sound.subarray(start, start + CHUNK_BYTES).toString('base64'))
  }
}
