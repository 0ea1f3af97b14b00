/** The string methods that readers of long texts need. Offsets count UTF-16 units and are not negative. */
export interface Text {
  readonly length: number
  slice(start: number, end?: number): string
  indexOf(searched: string, from?: number): number
  lastIndexOf(searched: string, from?: number): number
  charCodeAt(index: number): number
}

/** Maximum length of a text that is a string, in UTF-16 units. */
const SHORT_UNITS = 1024 * 1024
const UNIT_BYTES = 2

/** Joins the parts of a text. A long text is stored outside of the heap of this thread. */
export async function joinText(parts: AsyncIterable<string>): Promise<Text> {
  let strings: string[] = []
  const buffers: Buffer[] = []
  let units = 0
  const flush = () => {
    if (strings.length > 0) buffers.push(Buffer.from(strings.join(''), 'utf16le'))
    strings = []
  }
  for await (const part of parts) {
    strings.push(part)
    units += part.length
    if (units > SHORT_UNITS) flush()
  }
  if (buffers.length === 0) return strings.join('')
  flush()
  return new LongText(Buffer.concat(buffers))
}

/** A text as UTF-16 in a buffer. */
class LongText implements Text {
  readonly #bytes: Buffer
  readonly length: number

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.length = bytes.length / UNIT_BYTES
  }

  slice(start: number, end = this.length): string {
    return this.#bytes.toString('utf16le', start * UNIT_BYTES, Math.min(end, this.length) * UNIT_BYTES)
  }

  indexOf(searched: string, from = 0): number {
    return toUnitOffset(this.#bytes.indexOf(searched, from * UNIT_BYTES, 'utf16le'))
  }

  lastIndexOf(searched: string, from = this.length): number {
    return toUnitOffset(this.#bytes.lastIndexOf(searched, Math.min(from, this.length) * UNIT_BYTES, 'utf16le'))
  }

  charCodeAt(index: number): number {
    return index >= 0 && index < this.length ? this.#bytes.readUInt16LE(index * UNIT_BYTES) : Number.NaN
  }
}

function toUnitOffset(byte: number): number {
  return byte === -1 ? -1 : byte / UNIT_BYTES
}
