import { createHash } from 'node:crypto'
import type { ContainedFile } from '../compiled.js'
import { bytesInWords, ReadError, type ReadLimits } from '../limits.js'
import { isLitter, Namesakes, safePath } from './names.js'

/** A file that a parser met in the one that it reads. */
export interface FoundFile {
  /** as its container names it: anything */
  name: string
  /** as its container declares it */
  mediaType?: string
  /** its bytes, asked for once at most; may throw `ReadError` of this file alone */
  content: Uint8Array | Iterable<Uint8Array> | AsyncIterable<Uint8Array>
}

/** Where bytes of files go that lie in the one that is read. */
export interface FileSink {
  /** More of the file that is open, or of a new one. */
  piece(bytes: Uint8Array): Promise<void>
  /** What is open was the whole of a file; or only a part of what is not to be kept. */
  end(kept: boolean): Promise<void>
}

/** What is open of the way down: how many containers lie around the files of this one, and who takes their bytes. */
export interface Descent {
  depth: number
  sink: FileSink
}

/** What became of a file: kept as a document of its own, not looked at, or not read for a reason. */
export type Outcome = { kept: string } | { skipped: true } | { unread: string }

const TOO_DEEP: Outcome = { unread: 'lies in too many files within each other' }

/**
 * Takes the files that lie in the one that is being read, and holds them to the limits: how many, how large, how deep.
 * Nothing of a file is held but what one piece has.
 */
export class Inside {
  readonly files: ContainedFile[] = []
  readonly #filename: string
  readonly #limits: ReadLimits
  readonly #descent: Descent | undefined
  readonly #namesakes = new Namesakes()
  #bytes = 0
  #seen = 0

  /** @param filename of the container @param descent absent: files are named and their bytes left alone */
  constructor(filename: string, limits: ReadLimits, descent?: Descent) {
    this.#filename = filename
    this.#limits = limits
    this.#descent = descent
  }

  /** Bytes of all files so far. */
  get bytes(): number {
    return this.#bytes
  }

  /** @throws ReadError `limit-exceeded` when the container holds more than is read of one */
  async add(found: FoundFile): Promise<Outcome> {
    const path = safePath(found.name)
    if (isLitter(path)) return { skipped: true }
    if (++this.#seen > this.#limits.containedFiles) {
      const most = this.#limits.containedFiles.toLocaleString('en-US')
      throw new ReadError('limit-exceeded', `${this.#filename} holds more files than the limit of ${most}`)
    }
    if (this.#descent === undefined) return { kept: path }
    if (this.#descent.depth >= this.#limits.containedDepth) return TOO_DEEP
    return await this.#take(path, found, this.#descent.sink)
  }

  async #take(path: string, { mediaType, content }: FoundFile, sink: FileSink): Promise<Outcome> {
    const hash = createHash('sha256')
    let size = 0
    let unread: string | undefined
    try {
      for await (const piece of content instanceof Uint8Array ? [content] : content) {
        if (piece.length === 0) continue
        size += piece.length
        if (size > this.#limits.containedBytes) {
          throw new ReadError('limit-exceeded', `${path} is larger than ${bytesInWords(this.#limits.containedBytes)}`)
        }
        hash.update(piece)
        await sink.piece(piece)
      }
    } catch (error) {
      if (!(error instanceof ReadError) || (error.code === 'limit-exceeded' && size <= this.#limits.containedBytes))
        throw error
      unread = error.message
    }
    const kept = unread === undefined && size > 0
    if (size > 0) await sink.end(kept)
    this.#bytes += size
    if (unread !== undefined) return { unread }
    if (!kept) return { unread: 'is empty' }
    const name = this.#namesakes.name(path)
    this.files.push({ name, ...(mediaType === undefined ? {} : { mediaType }), sha256: hash.digest('hex'), size })
    return { kept: name }
  }
}
