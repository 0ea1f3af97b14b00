const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const LETTER_U = 0x75
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]
const BLANKS: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d])

export interface JsonLimits {
  /** bytes of one value that is read alone */
  valueBytes: number
  /** levels within such a value */
  depth: number
  /** members of all arrays and objects within it */
  values: number
}

/** JSON that exceeds a limit. */
export class JsonTooLarge extends Error {}

/**
 * Reads JSON of any length from pieces of UTF-8. The caller walks down arrays and objects; only the requested value is
 * in memory.
 *
 * Every method throws SyntaxError where the text is not JSON.
 */
export class JsonReader {
  readonly #pieces: AsyncIterator<Uint8Array>
  readonly #limits: JsonLimits
  #bytes: Buffer = Buffer.alloc(0)
  #offset = 0

  constructor(pieces: AsyncIterable<Uint8Array>, limits: JsonLimits) {
    this.#pieces = pieces[Symbol.asyncIterator]()
    this.#limits = limits
  }

  /** The members of an array; the caller reads one value for each. */
  async *readMembers(): AsyncGenerator<number> {
    await this.#expect(OPEN_ARRAY)
    if (await this.#accept(CLOSE_ARRAY)) return
    for (let index = 0; ; index++) {
      yield index
      if (await this.#accept(CLOSE_ARRAY)) return
      await this.#expect(COMMA)
    }
  }

  /** The keys of an object; the caller reads one value for each. */
  async *readKeys(): AsyncGenerator<string> {
    await this.#expect(OPEN_OBJECT)
    if (await this.#accept(CLOSE_OBJECT)) return
    for (;;) {
      const key = await this.readValue()
      if (typeof key !== 'string') throw new SyntaxError('a key of an object is not a string')
      await this.#expect(COLON)
      yield key
      if (await this.#accept(CLOSE_OBJECT)) return
      await this.#expect(COMMA)
    }
  }

  /** The next value. @throws JsonTooLarge */
  async readValue(): Promise<unknown> {
    return JSON.parse((await this.readBytes()).toString('utf8'))
  }

  /** The text of the next value, which may not be JSON. @throws JsonTooLarge */
  async readBytes(): Promise<Buffer> {
    const pieces: Buffer[] = []
    let size = 0
    for await (const piece of this.#valuePieces()) {
      pieces.push(piece)
      size += piece.length
      if (size > this.#limits.valueBytes)
        throw new JsonTooLarge(`a value of more than ${this.#limits.valueBytes} bytes`)
    }
    return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces)
  }

  /** Passes over the next value, whatever its length. */
  async skip(): Promise<void> {
    for await (const _ of this.#valuePieces());
  }

  /** The next value, which is a string of any length, in parts. */
  async *readText(): AsyncGenerator<string> {
    await this.#expect(QUOTE)
    for (;;) {
      const { end, isClosed } = findCharactersEnd(this.#bytes, this.#offset)
      if (end > this.#offset) yield String(JSON.parse(`"${this.#bytes.toString('utf8', this.#offset, end)}"`))
      this.#offset = isClosed ? end + 1 : end
      if (isClosed) return
      if (!(await this.#readMore())) throw createTruncatedError()
    }
  }

  /** @throws SyntaxError where anything follows */
  async expectEnd(): Promise<void> {
    if ((await this.#peek()) !== undefined) throw new SyntaxError('something follows the JSON value')
  }

  async *#valuePieces(): AsyncGenerator<Buffer> {
    const first = await this.#peek()
    if (first === undefined || first === COMMA || first === CLOSE_ARRAY || first === CLOSE_OBJECT)
      throw new SyntaxError('a value is missing')
    const scan = new ValueScanner(this.#limits)
    for (;;) {
      const start = this.#offset
      this.#offset = scan.advance(this.#bytes, start)
      if (this.#offset > start) yield this.#bytes.subarray(start, this.#offset)
      if (scan.isFinished) return
      if (await this.#readMore()) continue
      if (scan.isOpen) throw createTruncatedError()
      return
    }
  }

  /** The next byte that is not blank; nothing at the end. */
  async #peek(): Promise<number | undefined> {
    for (;;) {
      while (BLANKS.has(this.#bytes[this.#offset])) this.#offset++
      const byte = this.#bytes[this.#offset]
      if (byte !== undefined || !(await this.#readMore())) return byte
    }
  }

  async #expect(byte: number): Promise<void> {
    if (!(await this.#accept(byte))) throw new SyntaxError(`${String.fromCharCode(byte)} is missing`)
  }

  async #accept(byte: number): Promise<boolean> {
    const isNext = (await this.#peek()) === byte
    if (isNext) this.#offset++
    return isNext
  }

  /** Appends the next piece to the unread bytes. @returns whether there was one */
  async #readMore(): Promise<boolean> {
    const next = await this.#pieces.next()
    if (next.done === true) return false
    const rest = this.#bytes.subarray(this.#offset)
    this.#bytes =
      rest.length === 0
        ? Buffer.from(next.value.buffer, next.value.byteOffset, next.value.length)
        : Buffer.concat([rest, next.value])
    this.#offset = 0
    return true
  }
}

/** Finds the end of a value across pieces. */
class ValueScanner {
  readonly #limits: JsonLimits
  #depth = 0
  #values = 0
  #inString = false
  #escaped = false
  #isScalar = false
  isFinished = false

  constructor(limits: JsonLimits) {
    this.#limits = limits
  }

  /** Whether the value cannot end here. */
  get isOpen(): boolean {
    return this.#depth > 0 || this.#inString
  }

  /** @returns the index after the bytes of the value */
  advance(bytes: Uint8Array, start: number): number {
    for (let index = start; index < bytes.length; index++) {
      const byte = bytes[index]
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false
        else if (byte === BACKSLASH) this.#escaped = true
        else if (byte === QUOTE) {
          this.#inString = false
          if (this.#depth === 0) return this.#end(index + 1)
        }
      } else if (byte === QUOTE) {
        if (this.#isScalar) throw new SyntaxError('a string begins within a value')
        this.#inString = true
      } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
        if (++this.#depth > this.#limits.depth)
          throw new JsonTooLarge(`a value nested deeper than ${this.#limits.depth} levels`)
        this.#count()
      } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
        if (this.#depth === 0) return this.#end(index)
        if (--this.#depth === 0) return this.#end(index + 1)
      } else if (this.#depth === 0) {
        if (byte === COMMA || byte === COLON || BLANKS.has(byte)) return this.#end(index)
        this.#isScalar = true
      } else if (byte === COMMA) this.#count()
    }
    return bytes.length
  }

  #count(): void {
    if (++this.#values > this.#limits.values)
      throw new JsonTooLarge(`a value of more than ${this.#limits.values} members`)
  }

  #end(at: number): number {
    this.isFinished = true
    return at
  }
}

/** The end of the characters and escapes of a string that are complete, up to its closing quote. */
function findCharactersEnd(bytes: Uint8Array, start: number): { end: number; isClosed: boolean } {
  let end = start
  while (end < bytes.length) {
    const byte = bytes[end] ?? 0
    if (byte === QUOTE) return { end: end, isClosed: true }
    const length =
      byte === BACKSLASH
        ? bytes[end + 1] === LETTER_U
          ? 6
          : 2
        : byte < 0xc0
          ? 1
          : byte < 0xe0
            ? 2
            : byte < 0xf0
              ? 3
              : 4
    if (end + length > bytes.length) break
    end += length
  }
  return { end: end, isClosed: false }
}

function createTruncatedError(): SyntaxError {
  return new SyntaxError('the JSON is cut off')
}
