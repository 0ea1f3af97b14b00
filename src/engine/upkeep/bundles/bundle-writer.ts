import { createHash } from 'node:crypto'
import { buildTarHeader, buildTarPadding, TAR_END } from '../../../lib/tar.js'
import { END, objectName, rowsName } from './format.js'
import { ROWS_FILE_BYTES } from './limits.js'
import type { BundleTable } from './rows.js'

/** Writes the files of a bundle, one after the other, as chunks of bytes. */
export class BundleWriter {
  readonly #hash = createHash('sha256')
  readonly #rows = new Map<string, number>()
  #objects = 0

  countRows(table: BundleTable, rows: number): void {
    this.#rows.set(table, (this.#rows.get(table) ?? 0) + rows)
  }

  *file(name: string, bytes: Uint8Array): Generator<Uint8Array> {
    yield this.#addToHash(buildTarHeader({ name, size: bytes.length }))
    yield this.#addToHash(bytes)
    yield this.#addToHash(buildTarPadding(bytes.length))
  }

  json(name: string, value: object): Generator<Uint8Array> {
    return this.file(name, Buffer.from(`${JSON.stringify(value)}\n`))
  }

  /** @param content exactly `size` bytes @throws where its size or hash differs */
  async *object(sha256: string, size: number, content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    yield this.#addToHash(buildTarHeader({ name: objectName(sha256), size }))
    const hash = createHash('sha256')
    let seen = 0
    for await (const piece of content) {
      seen += piece.length
      if (seen > size) break
      hash.update(piece)
      yield this.#addToHash(piece)
    }
    // the header with the size is already written, so the bundle cannot be completed
    if (seen !== size) throw new Error(`object ${sha256} has another size than in its row`)
    if (hash.digest('hex') !== sha256) throw new Error(`object ${sha256} differs from what was stored`)
    yield this.#addToHash(buildTarPadding(size))
    this.#objects += 1
  }

  /** The last file and the end of the archive. */
  *end(): Generator<Uint8Array> {
    const rows = Object.fromEntries([...this.#rows].sort(([a], [b]) => (a < b ? -1 : 1)))
    const sha256 = this.#hash.copy().digest('hex')
    yield* this.json(END, { objects: this.#objects, rows, sha256 })
    yield TAR_END
  }

  #addToHash(bytes: Uint8Array): Uint8Array {
    this.#hash.update(bytes)
    return bytes
  }
}

/** Writes the files of lines of a space. Lines of a table share files of a limited size. */
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

  /** Adds lines of a table. The caller writes the yielded bytes before anything else. */
  *add(table: BundleTable, lines: Iterable<string>): Generator<Uint8Array> {
    if (table !== this.#table) yield* this.flush()
    this.#table = table
    for (const line of lines) {
      this.#append(line)
      if (this.#bytes >= ROWS_FILE_BYTES) yield* this.flush()
    }
  }

  /** Writes a separate file for lines that refer to the objects right before it. */
  *page(table: BundleTable, lines: Iterable<string>): Generator<Uint8Array> {
    yield* this.flush()
    this.#table = table
    for (const line of lines) this.#append(line)
    yield* this.flush()
  }

  #append(line: string): void {
    this.#lines.push(line)
    this.#bytes += Buffer.byteLength(line) + 1
  }

  /** Writes the file that is being collected. */
  *flush(): Generator<Uint8Array> {
    if (this.#lines.length === 0) return
    this.#number += 1
    this.#writer.countRows(this.#table, this.#lines.length)
    const bytes = Buffer.from(`${this.#lines.join('\n')}\n`)
    this.#lines = []
    this.#bytes = 0
    yield* this.#writer.file(rowsName(this.#space, this.#number, this.#table), bytes)
  }
}
