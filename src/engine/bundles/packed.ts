import { once } from 'node:events'
import { createInflate, type Inflate } from 'node:zlib'
import { BUNDLE_LIMITS } from './limits.js'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPENS: ReadonlySet<number> = new Set([0x5b, 0x7b])
const CLOSES: ReadonlySet<number> = new Set([0x5d, 0x7d])
const COMMA = 0x2c

/**
 * Looks at packed JSON as it arrives, without ever holding all of it: how large it becomes, how deep and of how many values
 * it is. Whoever reads it later trusts that it fits into memory.
 */
export class PackedCheck {
  readonly #inflate: Inflate = createInflate()
  /** the whole, as long as it is short */
  #kept: Buffer[] | undefined = []
  #bytes = 0
  #values = 0
  #depth = 0
  #inString = false
  #escaped = false
  #problem: string | undefined

  constructor() {
    this.#inflate.on('data', (piece: Buffer) => this.#look(piece))
    this.#inflate.on('error', () => {
      this.#problem ??= 'cannot be unpacked'
    })
  }

  async add(packed: Uint8Array): Promise<void> {
    if (this.#problem !== undefined || packed.length === 0) return
    if (!this.#inflate.write(packed)) await Promise.race([once(this.#inflate, 'drain'), this.#ended()])
  }

  /** @returns what is wrong with it, or its text where that is short */
  async end(): Promise<{ problem: string } | { text: string | undefined }> {
    if (this.#problem === undefined) {
      const ended = this.#ended()
      this.#inflate.end()
      await ended
    }
    this.#inflate.destroy()
    if (this.#problem !== undefined) return { problem: this.#problem }
    return { text: this.#kept === undefined ? undefined : Buffer.concat(this.#kept).toString('utf8') }
  }

  /** Resolves when nothing more comes, for good or bad. */
  #ended(): Promise<void> {
    if (this.#inflate.destroyed) return Promise.resolve()
    return new Promise((resolve) => {
      for (const event of ['end', 'error', 'close']) this.#inflate.once(event, () => resolve())
    })
  }

  #look(piece: Buffer): void {
    this.#bytes += piece.length
    if (this.#bytes > BUNDLE_LIMITS.readBytes) this.#kept = undefined
    this.#kept?.push(piece)
    this.#problem ??= this.#wrong(piece)
    if (this.#problem !== undefined) this.#inflate.destroy()
  }

  #wrong(piece: Buffer): string | undefined {
    if (this.#bytes > BUNDLE_LIMITS.unpackedBytes) return `is larger than ${BUNDLE_LIMITS.unpackedBytes} bytes unpacked`
    for (const byte of piece) {
      if (this.#escaped) this.#escaped = false
      else if (this.#inString) {
        if (byte === BACKSLASH) this.#escaped = true
        else if (byte === QUOTE) this.#inString = false
      } else if (byte === QUOTE) this.#inString = true
      else if (byte === COMMA) this.#values++
      else if (OPENS.has(byte)) {
        this.#values++
        this.#depth++
      } else if (CLOSES.has(byte)) this.#depth--
      if (this.#depth > BUNDLE_LIMITS.packedDepth) return `is nested deeper than ${BUNDLE_LIMITS.packedDepth} levels`
    }
    return this.#values > BUNDLE_LIMITS.unpackedValues
      ? `has more than ${BUNDLE_LIMITS.unpackedValues} values`
      : undefined
  }
}
