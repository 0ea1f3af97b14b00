import { ProviderFailure } from '../../../base/provider-failure.js'
import type { Speech } from '../../../models/index.js'
import { createWavHeader, parseWav } from './wav.js'

/**
 * Joins the audio of several sentences, because models are called sentence by sentence. MP3 data is concatenated; of
 * WAV files only the first keeps its header.
 */
export class AudioJoiner {
  mimeType = ''
  #format: Buffer | undefined

  /**
   * The bytes that continue the previous audio.
   * @throws ProviderFailure if the formats differ
   */
  append({ audio, mimeType }: Speech): Buffer {
    const first = this.mimeType === ''
    if (!first && mimeType !== this.mimeType) throw new ProviderFailure('malformed', 'audio of several types')
    this.mimeType = mimeType
    if (mimeType !== 'audio/wav') return audio
    const sound = parseWav(audio)
    if (sound === undefined) throw new ProviderFailure('malformed', 'a WAV file that cannot be read')
    const { format, samples } = sound
    if (first) {
      this.#format = format
      return Buffer.concat([createWavHeader(format), samples])
    }
    if (this.#format?.equals(format) !== true) throw new ProviderFailure('malformed', 'audio of several formats')
    return samples
  }

  /** Joins all parts returned before into a complete file with a correct header. */
  join(pieces: Buffer[]): Buffer {
    const bytes = Buffer.concat(pieces)
    if (this.#format === undefined) return bytes
    const head = createWavHeader(this.#format, bytes.length - createWavHeader(this.#format).length)
    head.copy(bytes)
    return bytes
  }
}
