import { createHash } from 'node:crypto'
import { TAR_END, tarHeader, tarPadding } from '../../lib/tar.js'
import { END, objectName, rowsName } from './format.js'
import { ROWS_BYTES } from './limits.js'
import type { BundleTable } from './rows.js'

/** The files of a bundle, one after the other, as pieces of bytes. */
export class BundleWriter {
  readonly #hash = createHash('sha256')
  readonly #rows = new Map<string, number>()
  #objects = 0

  counted(table: BundleTable, rows: number): void {
    this.#rows.set(table, (this.#rows.get(table) ?? 0) + rows)
  }

  *file(name: string, bytes: Uint8Array): Generator<Uint8Array> {
    yield this.#noted(tarHeader({ name, size: bytes.length }))
    yield this.#noted(bytes)
    yield this.#noted(tarPadding(bytes.length))
  }

  json(name: string, value: object): Generator<Uint8Array> {
    return this.file(name, Buffer.from(`${JSON.stringify(value)}\n`))
  }

  /** @param content exactly `size` bytes @throws where there are more or fewer */
  async *object(sha256: string, size: number, content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    yield this.#noted(tarHeader({ name: objectName(sha256), size }))
    const hash = createHash('sha256')
    let seen = 0
    for await (const piece of content) {
      seen += piece.length
      if (seen > size) break
      hash.update(piece)
      yield this.#noted(piece)
    }
    // too late for another size: what has begun cannot be ended well
    if (seen !== size) throw new Error(`object ${sha256} has another size than its row says`)
    if (hash.digest('hex') !== sha256) throw new Error(`object ${sha256} does not hold what was stored`)
    yield this.#noted(tarPadding(size))
    this.#objects += 1
  }

  /** The last file and what stands behind it. */
  *end(): Generator<Uint8Array> {
    const rows = Object.fromEntries([...this.#rows].sort(([a], [b]) => (a < b ? -1 : 1)))
    const sha256 = this.#hash.copy().digest('hex')
    yield* this.json(END, { objects: this.#objects, rows, sha256 })
    yield TAR_END
  }

  #noted(bytes: Uint8Array): Uint8Array {
    this.#hash.update(bytes)
    return bytes
  }
}

/** The files of lines of a space. Lines of a table share files, and a file ends when it has its size. */
export class RowsWriter {
  readonly #writer: BundleWriter
  readonly #space: string
  #table: BundleTable = 'spaces'
  #lines: string[] = []
  #bytes = 0
  #number = 0

  constructor(writer: BundleWriter, space: string) {
    this.#writer = writer
    this.#space = space
  }

  /** Adds lines of a table. What is yielded is to be written before anything else. */
  *add(table: BundleTable, lines: Iterable<string>): Generator<Uint8Array> {
    if (table !== this.#table) yield* this.flush()
    this.#table = table
    for (const line of lines) {
      this.#hold(line)
      if (this.#bytes >= ROWS_BYTES) yield* this.flush()
    }
  }

  /** A file of its own for lines that name objects, which are right before it. */
  *page(table: BundleTable, lines: Iterable<string>): Generator<Uint8Array> {
    yield* this.flush()
    this.#table = table
    for (const line of lines) this.#hold(line)
    yield* this.flush()
  }

  #hold(line: string): void {
    this.#lines.push(line)
    this.#bytes += Buffer.byteLength(line) + 1
  }

  /** Ends the file that is being gathered. */
  *flush(): Generator<Uint8Array> {
    if (this.#lines.length === 0) return
    this.#number += 1
    this.#writer.counted(this.#table, this.#lines.length)
    const bytes = Buffer.from(`${this.#lines.join('\n')}\n`)
    this.#lines = []
    this.#bytes = 0
    yield* this.#writer.file(rowsName(this.#space, this.#number, this.#table), bytes)
  }
}
