import { createHash } from 'node:crypto'
import type { ContainedFile } from '../../store/compiled.js'
import { formatByteCount, ReadError, type ReadLimits } from '../limits.js'
import { isIgnoredFile, toSafePath, UniqueNames } from './contained-names.js'

/** A contained file as a parser passes it on. */
export interface FoundContainedFile {
  /** name in its container, unchecked */
  name: string
  /** declared by its container */
  mediaType?: string
  /** its bytes, read at most once; may throw `ReadError` for this file alone */
  content: Uint8Array | Iterable<Uint8Array> | AsyncIterable<Uint8Array>
}

/** Receives the bytes of contained files. */
export interface FileSink {
  /** The next bytes of the open file, or the first of a new one. */
  write(bytes: Uint8Array): Promise<void>
  /** Ends the open file: it is complete, or discarded. */
  end(kept: boolean): Promise<void>
}

/** Number of containers around the contained files, and the sink for their bytes. */
export interface ExtractionTarget {
  depth: number
  sink: FileSink
}

/** What happened to a file: kept as a separate document, ignored, or not read for a reason. */
export type ContainedFileOutcome = { kept: string } | { skipped: true } | { unread: string }

const TOO_DEEP_OUTCOME: ContainedFileOutcome = { unread: 'is nested too deeply' }

/**
 * Collects the contained files of the file that is being read, within the limits of number, size and depth. Holds no
 * more than one chunk of a file.
 */
export class ContainedFileCollector {
  readonly files: ContainedFile[] = []
  readonly #filename: string
  readonly #limits: ReadLimits
  readonly #target: ExtractionTarget | undefined
  readonly #names = new UniqueNames()
  #bytes = 0
  #seen = 0

  /** @param filename of the container @param target absent: names are collected, bytes ignored */
  constructor(filename: string, limits: ReadLimits, target?: ExtractionTarget) {
    this.#filename = filename
    this.#limits = limits
    this.#target = target
  }

  /** Total bytes of the files so far. */
  get bytes(): number {
    return this.#bytes
  }

  /** @throws ReadError `limit-exceeded` when the container has more files than the limit */
  async add(file: FoundContainedFile): Promise<ContainedFileOutcome> {
    const path = toSafePath(file.name)
    if (isIgnoredFile(path)) return { skipped: true }
    if (++this.#seen > this.#limits.containedFiles) {
      const limit = this.#limits.containedFiles.toLocaleString('en-US')
      throw new ReadError('limit-exceeded', `${this.#filename} holds more files than the limit of ${limit}`)
    }
    if (this.#target === undefined) return { kept: path }
    if (this.#target.depth >= this.#limits.containedDepth) return TOO_DEEP_OUTCOME
    return await this.#extract(path, file, this.#target.sink)
  }

  async #extract(
    path: string,
    { mediaType, content }: FoundContainedFile,
    sink: FileSink,
  ): Promise<ContainedFileOutcome> {
    const hash = createHash('sha256')
    let size = 0
    let unread: string | undefined
    try {
      for await (const chunk of content instanceof Uint8Array ? [content] : content) {
        if (chunk.length === 0) continue
        size += chunk.length
        if (size > this.#limits.containedBytes) {
          throw new ReadError(
            'limit-exceeded',
            `${path} is larger than ${formatByteCount(this.#limits.containedBytes)}`,
          )
        }
        hash.update(chunk)
        await sink.write(chunk)
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
    const name = this.#names.makeUnique(path)
    this.files.push({ name, ...(mediaType === undefined ? {} : { mediaType }), sha256: hash.digest('hex'), size })
    return { kept: name }
  }
}
