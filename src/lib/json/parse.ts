import { setImmediate as nextTick } from 'node:timers/promises'

/** Bytes that are parsed without a pause: some milliseconds. */
const SLICE_BYTES = 512 * 1024

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const LETTER_U = 0x75
const OPEN = new Set([0x5b, 0x7b])
const CLOSE = new Set([0x5d, 0x7d])
const BLANK = new Set([0x20, 0x09, 0x0a, 0x0d])

/** The range of a value in bytes, end exclusive. */
interface ByteRange {
  from: number
  to: number
}

export interface ParseSlicing {
  /** approximate bytes that are parsed without a pause */
  sliceBytes?: number
  /** yields to other work */
  pause?: () => Promise<unknown>
}

/**
 * `JSON.parse` for long UTF-8 text: other work runs between its slices.
 *
 * @throws SyntaxError if the text is not JSON
 */
export async function parseInSlices(text: Buffer, slicing: ParseSlicing = {}): Promise<unknown> {
  const { sliceBytes = SLICE_BYTES, pause = () => nextTick() } = slicing
  return text.length <= sliceBytes
    ? JSON.parse(text.toString('utf8'))
    : new SlicedParser(text, sliceBytes, pause).parseAll()
}

class SlicedParser {
  readonly #text: Buffer
  readonly #sliceBytes: number
  readonly #pause: () => Promise<unknown>
  /** bytes scanned since the last pause */
  #bytesSincePause = 0

  constructor(text: Buffer, most: number, pause: () => Promise<unknown>) {
    this.#text = text
    this.#sliceBytes = most
    this.#pause = pause
  }

  parseAll(): Promise<unknown> {
    return this.#parseValue(this.#trim({ from: 0, to: this.#text.length }))
  }

  async #parseValue(span: ByteRange): Promise<unknown> {
    if (span.to - span.from <= this.#sliceBytes) return this.#parseRange(span)
    const first = this.#text[span.from]
    if (first === QUOTE) return await this.#parseString(span)
    if (first === 0x5b) return await this.#parseArray(span)
    if (first === 0x7b) return await this.#parseObject(span)
    return this.#parseRange(span)
  }

  /** Parses a range in one call, optionally enclosed in brackets or quotes. */
  #parseRange({ from, to }: ByteRange, before = '', after = ''): unknown {
    return JSON.parse(`${before}${this.#text.toString('utf8', from, to)}${after}`)
  }

  async #parseArray(span: ByteRange): Promise<unknown[]> {
    const result: unknown[] = []
    for await (const group of this.#groupMembers(span)) {
      if (group.to - group.from > this.#sliceBytes) result.push(await this.#parseValue(group))
      // One slice has no more values than a call may have arguments.
      else for (const value of this.#parseRange(group, '[', ']') as unknown[]) result.push(value)
    }
    return result
  }

  async #parseObject(span: ByteRange): Promise<Record<string, unknown>> {
    const result: Record<string, unknown> = {}
    // a key may be `__proto__`
    const put = (key: string, value: unknown) =>
      Object.defineProperty(result, key, { value, configurable: true, enumerable: true, writable: true })
    for await (const group of this.#groupMembers(span)) {
      if (group.to - group.from > this.#sliceBytes) {
        const end = this.#findStringEnd(group.from)
        const key: unknown = this.#parseRange({ from: group.from, to: end })
        const colon = this.#trim({ from: end, to: group.to })
        if (typeof key !== 'string' || this.#text[colon.from] !== COLON)
          throw new SyntaxError('a key of an object is not a string')
        put(key, await this.#parseValue(this.#trim({ from: colon.from + 1, to: colon.to })))
      } else for (const [key, value] of Object.entries(this.#parseRange(group, '{', '}') as object)) put(key, value)
    }
    return result
  }

  /** Adjacent members of an array or object that one call parses. A longer member is a group of its own. */
  async *#groupMembers(span: ByteRange): AsyncIterable<ByteRange> {
    let group: ByteRange | undefined
    for await (const member of this.#findMembers(span)) {
      if (group !== undefined && member.to - group.from > this.#sliceBytes) {
        yield group
        group = undefined
      }
      group = { from: group?.from ?? member.from, to: member.to }
    }
    if (group !== undefined) yield group
  }

  /** The members of an array or object without surrounding white space. */
  async *#findMembers({ from, to }: ByteRange): AsyncIterable<ByteRange> {
    let depth = 0
    let start = from + 1
    for (let at = from; at < to; at++) {
      const byte = this.#text[at] ?? 0
      if (byte === QUOTE) {
        const end = this.#findStringEnd(at)
        this.#bytesSincePause += end - at
        at = end - 1
      } else if (OPEN.has(byte)) depth++
      else if (CLOSE.has(byte)) depth--
      if (depth === 0 && at < to - 1) break
      if ((byte === COMMA && depth === 1) || depth === 0) {
        const member = this.#trim({ from: start, to: at })
        if (member.from < member.to) yield member
        else if (byte === COMMA || start > from + 1) throw new SyntaxError('a member is missing')
        start = at + 1
      }
      if (++this.#bytesSincePause >= this.#sliceBytes) {
        this.#bytesSincePause = 0
        await this.#pause()
      }
    }
    // The code of the closing bracket is that of the opening bracket plus two.
    if (depth !== 0 || start !== to || this.#text[to - 1] !== (this.#text[from] ?? 0) + 2)
      throw new SyntaxError('an array or object does not end where it should')
  }

  /** The offset after the closing quote of the string that starts at `from`. */
  #findStringEnd(from: number): number {
    for (let at = from + 1; ; ) {
      const end = this.#text.indexOf(QUOTE, at)
      if (end === -1) throw new SyntaxError('a string does not end')
      let escapes = 0
      while (this.#text[end - 1 - escapes] === BACKSLASH) escapes++
      if (escapes % 2 === 0) return end + 1
      at = end + 1
    }
  }

  /** Parses a long string in pieces. No piece ends within an escape or a character. */
  async #parseString({ from, to }: ByteRange): Promise<string> {
    if (this.#findStringEnd(from) !== to) throw new SyntaxError('a string does not end where it should')
    let text = ''
    for (let at = from + 1; at < to - 1; ) {
      const end = this.#findPieceEnd(at, to - 1)
      text += String(this.#parseRange({ from: at, to: end }, '"', '"'))
      at = end
      await this.#pause()
    }
    return text
  }

  #findPieceEnd(from: number, to: number): number {
    const limit = from + this.#sliceBytes
    if (limit >= to) return to
    let plain = from
    while (plain < limit) {
      const escapeStart = this.#text.indexOf(BACKSLASH, plain)
      if (escapeStart === -1 || escapeStart >= limit) {
        let end = limit
        while (end > plain && ((this.#text[end] ?? 0) & 0xc0) === 0x80) end--
        return end > from ? end : limit
      }
      plain = escapeStart + (this.#text[escapeStart + 1] === LETTER_U ? 6 : 2)
    }
    return Math.min(plain, to)
  }

  #trim({ from, to }: ByteRange): ByteRange {
    let start = from
    let end = to
    while (start < end && BLANK.has(this.#text[start] ?? 0)) start++
    while (end > start && BLANK.has(this.#text[end - 1] ?? 0)) end--
    return { from: start, to: end }
  }
}
