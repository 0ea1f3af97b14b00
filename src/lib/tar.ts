import { createHash } from 'node:crypto'

/*
 * The subset of the tar format (ustar) that bundles use: regular files with short names and constant header fields. The
 * reader accepts only a header that equals, byte for byte, the one this module writes for its name and size. So links,
 * devices, long names, sparse files and other extensions cannot be used for attacks.
 */

export const TAR_BLOCK_BYTES = 512
/** maximum length of a name in bytes; names are ASCII */
const NAME_BYTES = 100
/** limit of the eleven octal digits of a header */
const MAX_SIZE_BYTES = 8 ** 11 - 1
const CHECKSUM = { offset: 148, length: 8 }

export interface TarEntry {
  name: string
  /** in bytes */
  size: number
}

/** The reason why an archive is invalid, as a predicate of "the bundle". */
export class TarError extends Error {}

/** Builds the header of a file: 512 bytes. */
export function buildTarHeader({ name, size }: TarEntry): Buffer {
  if (!/^[\x21-\x7e]+$/.test(name) || name.length > NAME_BYTES || !Number.isSafeInteger(size) || size > MAX_SIZE_BYTES)
    throw new Error(`no header can be written for ${JSON.stringify(name)} of ${size} bytes`)
  const header = Buffer.alloc(TAR_BLOCK_BYTES)
  header.write(name, 0, 'latin1')
  header.write('0000644\0', 100, 'latin1') // mode
  header.write('0000000\0', 108, 'latin1') // owner
  header.write('0000000\0', 116, 'latin1') // group
  header.write(`${size.toString(8).padStart(11, '0')}\0`, 124, 'latin1')
  header.write('00000000000\0', 136, 'latin1') // time of the change
  header.write('0', 156, 'latin1') // a regular file
  header.write('ustar\x0000', 257, 'latin1')
  header.fill(' ', CHECKSUM.offset, CHECKSUM.offset + CHECKSUM.length)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, CHECKSUM.offset, 'latin1')
  return header
}

/** The zeros that follow the content of a file of this size. */
export function buildTarPadding(size: number): Buffer {
  return Buffer.alloc((TAR_BLOCK_BYTES - (size % TAR_BLOCK_BYTES)) % TAR_BLOCK_BYTES)
}

/** The two zero blocks after the last file. */
export const TAR_END = Buffer.alloc(2 * TAR_BLOCK_BYTES)

/** @throws TarError if the header is invalid. @returns undefined for a block of zeros */
function parseHeader(block: Buffer): TarEntry | undefined {
  if (block.equals(TAR_END.subarray(0, TAR_BLOCK_BYTES))) return undefined
  const end = block.indexOf(0)
  const name = block.toString('latin1', 0, end < 0 || end > NAME_BYTES ? NAME_BYTES : end)
  const sizeMatch = /^[0-7]{11}$/.exec(block.toString('latin1', 124, 135))
  if (sizeMatch === null || !/^[\x21-\x7e]+$/.test(name))
    throw new TarError('contains an entry that is not a bundle file')
  const entry = { name, size: Number.parseInt(sizeMatch[0], 8) }
  if (!buildTarHeader(entry).equals(block))
    throw new TarError(`contains ${JSON.stringify(name)} with an unexpected header`)
  return entry
}

/** Reads an archive file by file as its bytes arrive. */
export class TarReader {
  readonly #source: AsyncIterator<Uint8Array>
  readonly #hash = createHash('sha256')
  #hashBefore = this.#hash
  #buffered: Buffer = Buffer.alloc(0)
  /** unread bytes of the current file */
  #remaining = 0
  #padding = 0
  #bytesRead = 0

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  get bytesRead(): number {
    return this.#bytesRead
  }

  /** SHA-256 of all bytes before the current file, as hexadecimal digits. */
  digestBefore(): string {
    return this.#hashBefore.copy().digest('hex')
  }

  /** The next file; undefined after the last one. Unread content of the current file is skipped. */
  async next(): Promise<TarEntry | undefined> {
    for await (const _piece of this.content());
    const padding = await this.#readExactly(this.#padding)
    this.#padding = 0
    if (padding.some((byte) => byte !== 0)) throw new TarError('contains nonzero bytes between its files')
    this.#hashBefore = this.#hash.copy()
    const entry = parseHeader(await this.#readExactly(TAR_BLOCK_BYTES))
    if (entry === undefined) {
      await this.#expectEnd()
      return undefined
    }
    this.#remaining = entry.size
    this.#padding = buildTarPadding(entry.size).length
    return entry
  }

  /** The bytes of the current file in pieces. */
  async *content(): AsyncGenerator<Buffer> {
    while (this.#remaining > 0) {
      if (this.#buffered.length === 0) await this.#fill()
      yield this.#takeContent(Math.min(this.#remaining, this.#buffered.length))
    }
  }

  /** All bytes of the current file. The caller has checked its size. */
  async readAll(): Promise<Buffer> {
    const pieces: Buffer[] = []
    for await (const piece of this.content()) pieces.push(piece)
    return Buffer.concat(pieces)
  }

  async #expectEnd(): Promise<void> {
    if ((await this.#readExactly(TAR_BLOCK_BYTES)).some((byte) => byte !== 0)) throw new TarError('has no valid end')
    const more = this.#buffered.length > 0 || (await this.#source.next()).done !== true
    if (more) throw new TarError('continues after its end')
  }

  /** Reads a header or padding of `count` bytes. */
  async #readExactly(count: number): Promise<Buffer> {
    const pieces: Buffer[] = []
    for (let remaining = count; remaining > 0; ) {
      if (this.#buffered.length === 0) await this.#fill()
      const piece = this.#buffered.subarray(0, remaining)
      this.#buffered = this.#buffered.subarray(piece.length)
      this.#countBytes(piece)
      remaining -= piece.length
      pieces.push(piece)
    }
    return Buffer.concat(pieces)
  }

  #takeContent(count: number): Buffer {
    const piece = this.#buffered.subarray(0, count)
    this.#buffered = this.#buffered.subarray(count)
    this.#remaining -= piece.length
    this.#countBytes(piece)
    return piece
  }

  #countBytes(piece: Buffer): void {
    this.#bytesRead += piece.length
    this.#hash.update(piece)
  }

  async #fill(): Promise<void> {
    while (this.#buffered.length === 0) {
      const { done, value } = await this.#source.next()
      if (done === true) throw new TarError('ends early')
      this.#buffered = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    }
  }
}
