import type { ChildProcess } from 'node:child_process'
import { type FileHandle, open } from 'node:fs/promises'
import { checkOpened, READ_FLAGS } from '../../local/open-inside.js'

/** A file that a child process needs but must not open itself. */
export interface FeedFile {
  path: string
  /** real path of the folder that must contain the file */
  root?: string
}

/** Child to parent: asks for bytes of the file at `index` of the current request. */
export interface FileChunkRequest {
  kind: 'file'
  index: number
  offset: number
}

/** Parent to child. */
export type FileChunkReply =
  | { kind: 'bytes'; size: number; bytes: Uint8Array }
  /** code of the system's error */
  | { kind: 'no-bytes'; code: string }

/** A message of this size takes the parent about a millisecond. */
const CHUNK_BYTES = 1024 * 1024

/** Sends a child process the files of one request, chunk by chunk, on demand. */
export class FileFeed {
  readonly #child: ChildProcess
  readonly #files: readonly FeedFile[]
  #current: { index: number; file: FileHandle; size: number } | undefined
  #queue: Promise<void> = Promise.resolve()

  constructor(child: ChildProcess, files: readonly FeedFile[]) {
    this.#child = child
    this.#files = files
  }

  reply(request: FileChunkRequest): void {
    this.#queue = this.#queue.then(async () => {
      const reply = await this.#read(request).catch(toFailedReply)
      if (this.#child.connected) this.#child.send(reply, () => undefined)
    })
  }

  /** Closes the open file. */
  close(): void {
    this.#queue = this.#queue.then(() => this.#close().catch(() => undefined))
  }

  async #read({ index, offset }: FileChunkRequest): Promise<FileChunkReply> {
    // A file may control the child, and a read at -1 would continue from the current position.
    if (!Number.isSafeInteger(offset) || offset < 0) throw new RangeError('an offset is not a natural number')
    const { file, size } = this.#current?.index === index ? this.#current : await this.#open(index)
    const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(CHUNK_BYTES, size - offset)))
    const { bytesRead } = await file.read(bytes, 0, bytes.length, offset)
    if (bytesRead === 0 || offset + bytesRead >= size) await this.#close()
    return { kind: 'bytes', size, bytes: bytes.subarray(0, bytesRead) }
  }

  async #open(index: number) {
    await this.#close()
    const { path, root } = this.#files[index] ?? { path: '' }
    const file = await open(path, READ_FLAGS)
    try {
      checkOpened(file.fd, path, root)
      const opened = { index, file, size: (await file.stat()).size }
      // Only a checked file becomes current: the next question would read a refused one.
      this.#current = opened
      return opened
    } catch (error) {
      await file.close()
      throw error
    }
  }

  async #close(): Promise<void> {
    const { file } = this.#current ?? {}
    this.#current = undefined
    await file?.close()
  }
}

function toFailedReply(error: unknown): FileChunkReply {
  return { kind: 'no-bytes', code: error instanceof Error && 'code' in error ? String(error.code) : 'unknown error' }
}
