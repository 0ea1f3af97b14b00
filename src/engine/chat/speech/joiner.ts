import { ProviderFailure } from '../../base/provider-failure.js'
import type { Speech } from '../../models/types.js'
import { readWav, wavHead } from './wav.js'

/**
 * Joins the audio of several sentences, because models are called sentence by sentence. MP3 data is concatenated; of
 * WAV files only the first keeps its header.
 */
export class Joiner {
  mimeType = ''
  #format: Buffer | undefined

  /**
   * The bytes that continue the previous audio.
   * @throws ProviderFailure if the formats differ
   */
  next({ audio, mimeType }: Speech): Buffer {
    const first = this.mimeType === ''
    if (!first && mimeType !== this.mimeType) throw new ProviderFailure('malformed', 'audio of several types')
    this.mimeType = mimeType
    if (mimeType !== 'audio/wav') return audio
    const sound = readWav(audio)
    if (sound === undefined) throw new ProviderFailure('malformed', 'a WAV file that cannot be read')
    const { format, samples } = sound
    if (first) {
      this.#format = format
      return Buffer.concat([wavHead(format), samples])
    }
    if (this.#format?.equals(format) !== true) throw new ProviderFailure('malformed', 'audio of several formats')
    return samples
  }

  /** Joins all parts returned before into a complete file with a correct header. */
  whole(pieces: Buffer[]): Buffer {
    const bytes = Buffer.concat(pieces)
    if (this.#format === undefined) return bytes
    const head = wavHead(this.#format, bytes.length - wavHead(this.#format).length)
    head.copy(bytes)
    return bytes
  }
}
