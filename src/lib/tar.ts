import { createHash } from 'node:crypto'

/*
 * The part of the tar format (ustar) that bundles are written in: regular files with short names, and nothing in a header
 * that could differ. A header that is read has to be the one that would be written for its name and size, byte for byte, so
 * there are no links, devices, long names, sparse files or other extensions to be tricked by.
 */

export const TAR_BLOCK = 512
/** what a name may be long in bytes; all that are used here are ASCII */
const NAME_BYTES = 100
/** of the eleven octal digits of a header */
const MOST_SIZE = 8 ** 11 - 1
const SUM = { at: 148, length: 8 }

export interface TarEntry {
  name: string
  /** in bytes */
  size: number
}

/** What is wrong with an archive, in words that go on after "the bundle". */
export class TarError extends Error {}

/** The header of a file: 512 bytes. */
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

/** The zeros that follow a file of this size. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc((TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK)
}

/** What stands behind the last file. */
export const TAR_END = Buffer.alloc(2 * TAR_BLOCK)

/** @throws TarError where it is not such a header. @returns nothing for a block of zeros */
function parseHeader(block: Buffer): TarEntry | undefined {
  if (block.equals(TAR_END.subarray(0, TAR_BLOCK))) return undefined
  const end = block.indexOf(0)
  const name = block.toString('latin1', 0, end < 0 || end > NAME_BYTES ? NAME_BYTES : end)
  const size = /^[0-7]{11}$/.exec(block.toString('latin1', 124, 135))
  if (size === null || !/^[\x21-\x7e]+$/.test(name)) throw new TarError('holds something that is no file of a bundle')
  const entry = { name, size: Number.parseInt(size[0], 8) }
  if (!tarHeader(entry).equals(block)) throw new TarError(`holds ${JSON.stringify(name)} with a header of another form`)
  return entry
}

/** Reads an archive file by file as its bytes arrive. */
export class TarReader {
  readonly #source: AsyncIterator<Uint8Array>
  readonly #hash = createHash('sha256')
  #before = this.#hash
  #held: Buffer = Buffer.alloc(0)
  /** bytes of the current file that were not read, and the zeros behind it */
  #left = 0
  #padding = 0
  #read = 0

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** Bytes that were read so far. */
  get bytesRead(): number {
    return this.#read
  }

  /** SHA-256 of all before the current file, in hexadecimal digits. */
  digestBefore(): string {
    return this.#before.copy().digest('hex')
  }

  /** The next file; nothing behind the last one. What was not read of the one before is passed over. */
  async next(): Promise<TarEntry | undefined> {
    for await (const _piece of this.content());
    const padding = await this.#exactly(this.#padding)
    this.#padding = 0
    if (padding.some((byte) => byte !== 0)) throw new TarError('holds bytes between its files')
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

  /** The bytes of the current file, piece by piece. */
  async *content(): AsyncGenerator<Buffer> {
    while (this.#left > 0) {
      if (this.#held.length === 0) await this.#fill()
      yield this.#take(Math.min(this.#left, this.#held.length))
    }
  }

  /** All bytes of the current file, which its reader has found to be short enough. */
  async whole(): Promise<Buffer> {
    const pieces: Buffer[] = []
    for await (const piece of this.content()) pieces.push(piece)
    return Buffer.concat(pieces)
  }

  async #ended(): Promise<void> {
    if ((await this.#exactly(TAR_BLOCK)).some((byte) => byte !== 0)) throw new TarError('has no proper end')
    const more = this.#held.length > 0 || (await this.#source.next()).done !== true
    if (more) throw new TarError('goes on behind its end')
  }

  /** So many bytes, of the frame around files. */
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
      if (done === true) throw new TarError('breaks off before its end')
      this.#held = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    }
  }
}
