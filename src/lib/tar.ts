import { createHash } from 'node:crypto'

/*
 * The subset of the tar format (ustar) that bundles use: regular files with short names and constant header fields. The
 * reader accepts only a header that equals, byte for byte, the one this module writes for its name and size. So links,
 * devices, long names, sparse files and other extensions cannot be used for attacks.
 */

export const TAR_BLOCK = 512
/** maximum length of a name in bytes; names are ASCII */
const NAME_BYTES = 100
/** limit of the eleven octal digits of a header */
const MOST_SIZE = 8 ** 11 - 1
const SUM = { at: 148, length: 8 }

export interface TarEntry {
  name: string
  /** in bytes */
  size: number
}

/** The reason why an archive is invalid, as a predicate of "the bundle". */
export class TarError extends Error {}

/** Builds the header of a file: 512 bytes. */
export function tarHeader({ name, size }: TarEntry): Buffer {
  if (!/^[\x21-\x7e]+$/.test(name) || name.length > NAME_BYTES || !Number.isSafeInteger(size) || size > MOST_SIZE)
    throw new Error(`no header can be written for ${JSON.stringify(name)} of ${size} bytes`)
  const header = Buffer.alloc(TAR_BLOCK)
  header.write(name, 0, 'latin1')
  header.write('0000644\0', 100, 'latin1') // mode
  header.write('0000000\0', 108, 'latin1') // owner
  header.write('0000000\0', 116, 'latin1') // group
  header.write(`${size.toString(8).padStart(11, '0')}\0`, 124, 'latin1')
  header.write('00000000000\0', 136, 'latin1') // time of the change
  header.write('0', 156, 'latin1') // a regular file
  header.write('ustar\x0000', 257, 'latin1')
  header.fill(' ', SUM.at, SUM.at + SUM.length)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, SUM.at, 'latin1')
  return header
}

/** The zeros that follow the content of a file of this size. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc((TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK)
}

/** The two zero blocks after the last file. */
export const TAR_END = Buffer.alloc(2 * TAR_BLOCK)

/** @throws TarError if the header is invalid. @returns undefined for a block of zeros */
function parseHeader(block: Buffer): TarEntry | undefined {
  if (block.equals(TAR_END.subarray(0, TAR_BLOCK))) return undefined
  const end = block.indexOf(0)
  const name = block.toString('latin1', 0, end < 0 || end > NAME_BYTES ? NAME_BYTES : end)
  const size = /^[0-7]{11}$/.exec(block.toString('latin1', 124, 135))
  if (size === null || !/^[\x21-\x7e]+$/.test(name)) throw new TarError('contains an entry that is not a bundle file')
  const entry = { name, size: Number.parseInt(size[0], 8) }
  if (!tarHeader(entry).equals(block)) throw new TarError(`contains ${JSON.stringify(name)} with an unexpected header`)
  return entry
}

/** Reads an archive file by file as its bytes arrive. */
export class TarReader {
  readonly #source: AsyncIterator<Uint8Array>
  readonly #hash = createHash('sha256')
  #before = this.#hash
  #held: Buffer = Buffer.alloc(0)
  /** unread bytes of the current file */
  #left = 0
  #padding = 0
  #read = 0

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** Count of the bytes that were read. */
  get bytesRead(): number {
    return this.#read
  }

  /** SHA-256 of all bytes before the current file, as hexadecimal digits. */
  digestBefore(): string {
    return this.#before.copy().digest('hex')
  }

  /** The next file; undefined after the last one. Unread content of the current file is skipped. */
  async next(): Promise<TarEntry | undefined> {
    for await (const _piece of this.content());
    const padding = await this.#exactly(this.#padding)
    this.#padding = 0
    if (padding.some((byte) => byte !== 0)) throw new TarError('contains nonzero bytes between its files')
    this.#before = this.#hash.copy()
    const entry = parseHeader(await this.#exactly(TAR_BLOCK))
    if (entry === undefined) {
      await this.#ended()
      return undefined
    }
    this.#left = entry.size
    this.#padding = tarPadding(entry.size).length
    return entry
  }

  /** The bytes of the current file in pieces. */
  async *content(): AsyncGenerator<Buffer> {
    while (this.#left > 0) {
      if (this.#held.length === 0) await this.#fill()
      yield this.#take(Math.min(this.#left, this.#held.length))
    }
  }

  /** All bytes of the current file. The caller has checked its size. */
  async whole(): Promise<Buffer> {
    const pieces: Buffer[] = []
    for await (const piece of this.content()) pieces.push(piece)
    return Buffer.concat(pieces)
  }

  async #ended(): Promise<void> {
    if ((await this.#exactly(TAR_BLOCK)).some((byte) => byte !== 0)) throw new TarError('has no valid end')
    const more = this.#held.length > 0 || (await this.#source.next()).done !== true
    if (more) throw new TarError('continues after its end')
  }

  /** Reads a header or padding of `count` bytes. */
  async #exactly(count: number): Promise<Buffer> {
    const pieces: Buffer[] = []
    for (let left = count; left > 0; ) {
      if (this.#held.length === 0) await this.#fill()
      const piece = this.#held.subarray(0, left)
      this.#held = this.#held.subarray(piece.length)
      this.#note(piece)
      left -= piece.length
      pieces.push(piece)
    }
    return Buffer.concat(pieces)
  }

  #take(count: number): Buffer {
    const piece = this.#held.subarray(0, count)
    this.#held = this.#held.subarray(count)
    this.#left -= piece.length
    this.#note(piece)
    return piece
  }

  #note(piece: Buffer): void {
    this.#read += piece.length
    this.#hash.update(piece)
  }

  async #fill(): Promise<void> {
    while (this.#held.length === 0) {
      const { done, value } = await this.#source.next()
      if (done === true) throw new TarError('ends early')
      this.#held = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    }
  }
}
