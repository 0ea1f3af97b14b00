import { randomBytes } from 'node:crypto'
import { rmSync, statfsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { KsError } from '../contract/errors.js'
import { toDiskError } from './disk-error.js'
import { getFileSize } from './file-system.js'
import { hasErrorCode } from './private-file.js'

/** Space on the disk of the data directory. */
export interface DiskSpaceState {
  isFull: boolean
  /** bytes that can still be written, without the reserve */
  freeBytes: number
  /** bytes that must become free before writing resumes; 0 while the disk is not full */
  missingBytes: number
}

/** Space in bytes that a start of the daemon needs before it can report that the disk is full. */
const START_BYTES = 2 * 1024 * 1024
const START_FRACTION = 1 / 32
/** Space for deletions, traces of queries and the end of jobs while the disk is full. */
const RESERVE_BYTES = 16 * 1024 * 1024
/** on a small disk only this fraction */
const RESERVE_FRACTION = 1 / 8
/** with less free space the disk counts as full, although no write has failed: the log of the database grows in such steps */
const LOW_BYTES = 1024 * 1024
const LOW_FRACTION = 1 / 64
const CHUNK_BYTES = 256 * 1024
/** interval of attempts to write: only they show whether a quota is exhausted, the free space of the disk does not */
const RETRY_INTERVAL_MS = 1000
const CHECK_INTERVAL_MS = 5000

/**
 * Reserves space for the data directory: a file of random bytes, created while there is space and removed when a write
 * finds none. The disk counts as full until the file can be created again. A second, smaller file is removed at a start
 * only, and restored as far as possible after it.
 */
export class DiskReserve {
  readonly #path: string
  readonly #startPath: string
  readonly #startSize: number
  readonly #folder: string
  readonly #size: number
  readonly #lowBytes: number
  readonly #listeners = new Set<() => void>()
  #isFull = false
  /** rises with each release of the reserve: a file that is being created at that time is discarded */
  #releases = 0
  #failedAt = Number.NEGATIVE_INFINITY
  #growth: Promise<boolean> | undefined
  #timer: NodeJS.Timeout | undefined
  #closed = false

  /**
   * @param path the file
   * @param folder an existing folder on the same disk
   */
  constructor(path: string, folder: string) {
    this.#path = path
    this.#startPath = `${path}.start`
    this.#folder = folder
    const { blocks, bsize } = statfsSync(folder)
    this.#size = Math.min(RESERVE_BYTES, Math.floor(blocks * bsize * RESERVE_FRACTION))
    this.#startSize = Math.min(START_BYTES, Math.floor(blocks * bsize * START_FRACTION))
    this.#lowBytes = Math.min(LOW_BYTES, Math.floor(blocks * bsize * LOW_FRACTION))
  }

  /** Creates the reserve while there is space, releases it where there is none, and checks again every few seconds. */
  async start(): Promise<void> {
    const missing = Math.max(0, this.#size - getFileSize(this.#path))
    if (this.#getFreeBytes() < missing + this.#lowBytes) {
      this.release()
      rmSync(this.#startPath, { force: true })
    } else if (missing > 0) await this.#grow()
    this.#scheduleCheck()
  }

  /** Restores the reserve for the next start. */
  async restoreStartReserve(): Promise<void> {
    await this.#growPartly(this.#startPath, this.#startSize)
  }

  /** Restores the reserve as far as possible for the next start. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#growth
    if (this.#isFull) await this.#growPartly(this.#path, this.#size)
  }

  get isFull(): boolean {
    return this.#isFull
  }

  getState(): DiskSpaceState {
    const freeBytes = this.#getFreeBytes()
    const isFull = this.#isFull || freeBytes < this.#lowBytes
    return { isFull, freeBytes, missingBytes: isFull ? Math.max(0, this.#getRequiredBytes() - freeBytes) : 0 }
  }

  /** Calls `listener` whenever there is space again. */
  onSpaceAvailable(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /** A write found no space: releases the reserve for those that may use it. */
  release(): void {
    this.#isFull = true
    this.#releases++
    try {
      rmSync(this.#path, { force: true })
    } catch {
      // Read-only disk: writers get that error.
    }
  }

  /** Reports an error, which counts if the disk is full. */
  noteError(error: unknown): void {
    const failure = error instanceof KsError ? error : toDiskError(error)
    if (failure?.code !== 'storage-full') return
    // EFBIG is a limit of the process, not of the disk.
    if (hasErrorCode(failure.cause, 'EFBIG')) return
    this.release()
  }

  /** Checks whether there is space to write. */
  async hasSpace(): Promise<boolean> {
    const freeBytes = this.#getFreeBytes()
    if (freeBytes < this.#lowBytes && !this.#isFull) this.release()
    if (!this.#isFull) return true
    if (freeBytes < this.#getRequiredBytes() || performance.now() - this.#failedAt < RETRY_INTERVAL_MS) return false
    this.#growth ??= this.#grow().finally(() => {
      this.#growth = undefined
    })
    return await this.#growth
  }

  /** Grows the file to its full size. @returns whether there is space to write */
  async #grow(): Promise<boolean> {
    const releases = this.#releases
    try {
      await growFile(this.#path, this.#size)
      if (releases !== this.#releases) throw new Error('the reserve was released meanwhile')
    } catch (error) {
      this.#failedAt = performance.now()
      rmSync(this.#path, { force: true })
      this.noteError(error)
      return !this.#isFull
    }
    if (!this.#isFull) return true
    this.#isFull = false
    for (const listener of this.#listeners) listener()
    return true
  }

  #scheduleCheck(): void {
    if (this.#closed) return
    this.#timer = setTimeout(() => {
      const scheduleNext = () => this.#scheduleCheck()
      this.hasSpace().then(scheduleNext, scheduleNext)
    }, CHECK_INTERVAL_MS)
    this.#timer.unref()
  }

  /** Grows a file to a size, or as far as there is space. */
  async #growPartly(path: string, size: number): Promise<void> {
    try {
      await growFile(path, Math.min(size, getFileSize(path) + this.#getFreeBytes()))
    } catch {
      // A part is better than nothing.
    }
  }

  /** Free bytes at which the disk is no longer full: for the reserve, and for writes. */
  #getRequiredBytes(): number {
    return this.#size - getFileSize(this.#path) + 2 * this.#lowBytes
  }

  #getFreeBytes(): number {
    const { bavail, bsize } = statfsSync(this.#folder)
    return bavail * bsize
  }
}

async function growFile(path: string, size: number): Promise<void> {
  const file = await open(path, 'a', 0o600)
  try {
    // random: some file systems reserve no space for zeros
    const chunk = randomBytes(CHUNK_BYTES)
    for (let written = (await file.stat()).size; written < size; written += CHUNK_BYTES)
      await file.writeFile(chunk.subarray(0, Math.min(CHUNK_BYTES, size - written)))
  } finally {
    await file.close()
  }
}
