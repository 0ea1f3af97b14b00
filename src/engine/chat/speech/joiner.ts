import { ProviderFailure } from '../../base/provider-failure.js'
import type { Speech } from '../../models/types.js'
import { readWav, wavHead } from './wav.js'

/**
 * Makes one sound of several: a model is asked sentence by sentence. Pieces of MP3 follow one another as they are; of WAV
 * files only the first keeps its head.
 */
export class Joiner {
  mimeType = ''
  #format: Buffer | undefined

  /** The bytes that go on where the pieces before ended. @throws ProviderFailure when they do not fit */
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

  /** The whole of some pieces that `next` gave, with the head of a file that is complete. */
  whole(pieces: Buffer[]): Buffer {
    const bytes = Buffer.concat(pieces)
    if (this.#format === undefined) return bytes
    const head = wavHead(this.#format, bytes.length - wavHead(this.#format).length)
    head.copy(bytes)
    return bytes
  }
}
