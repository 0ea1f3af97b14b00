import { randomBytes } from 'node:crypto'
import { rmSync, statfsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { KsError } from '../contract/errors.js'
import { diskError } from './disk-error.js'
import { sizeOf } from './file-system.js'
import { isCode } from './private-file.js'

/** Space on the disk of the data directory. */
export interface RoomState {
  isFull: boolean
  /** bytes that can still be written, without the reserve */
  freeBytes: number
  /** bytes that must become free before writing resumes; 0 while the disk is not full */
  missingBytes: number
}

/** Space that a start needs before it can report that the disk is full. */
const START_BYTES = 2 * 1024 * 1024
const START_SHARE = 1 / 32
/** Space for deletions, traces of queries and the end of jobs while the disk is full. */
const RESERVE_BYTES = 16 * 1024 * 1024
/** on a small disk only this fraction */
const RESERVE_SHARE = 1 / 8
/** below this the disk counts as full before a write has failed: the database's log alone grows by as much at a time */
const LOW_BYTES = 1024 * 1024
const LOW_SHARE = 1 / 64
const PIECE_BYTES = 256 * 1024
/** free space of the disk does not show the rest of a quota; only an attempt does */
const RETRY_MS = 1000
const LOOK_MS = 5000

/**
 * Reserves space for the data directory: a file of random bytes, created while there is space and removed when a write
 * finds none. The disk counts as full until the file can be created again. A second, smaller file is removed at a start
 * only, and restored as far as possible after it.
 */
export class DiskRoom {
  readonly #path: string
  readonly #startPath: string
  readonly #startSize: number
  readonly #folder: string
  readonly #size: number
  readonly #low: number
  readonly #listeners = new Set<() => void>()
  #isFull = false
  /** rises with each release of the reserve: a file that is being created at that time is discarded */
  #givenUp = 0
  #failedAt = Number.NEGATIVE_INFINITY
  #taking: Promise<boolean> | undefined
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
    this.#size = Math.min(RESERVE_BYTES, Math.floor(blocks * bsize * RESERVE_SHARE))
    this.#startSize = Math.min(START_BYTES, Math.floor(blocks * bsize * START_SHARE))
    this.#low = Math.min(LOW_BYTES, Math.floor(blocks * bsize * LOW_SHARE))
  }

  /** Creates the reserve while there is space, releases it where there is none, and checks again every few seconds. */
  async begin(): Promise<void> {
    const missing = Math.max(0, this.#size - sizeOf(this.#path))
    if (this.#free() < missing + this.#low) {
      this.ranOut()
      rmSync(this.#startPath, { force: true })
    } else if (missing > 0) await this.#take()
    this.#later()
  }

  /** Restores the reserve for the next start. */
  async started(): Promise<void> {
    await this.#keep(this.#startPath, this.#startSize)
  }

  /** Restores the reserve as far as possible for the next start. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#taking
    if (this.#isFull) await this.#keep(this.#path, this.#size)
  }

  get isFull(): boolean {
    return this.#isFull
  }

  state(): RoomState {
    const freeBytes = this.#free()
    const isFull = this.#isFull || freeBytes < this.#low
    return { isFull, freeBytes, missingBytes: isFull ? Math.max(0, this.#wanted() - freeBytes) : 0 }
  }

  /** Calls `listener` whenever there is space again. */
  onRoom(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /** A write found no space: releases the reserve for those that may use it. */
  ranOut(): void {
    this.#isFull = true
    this.#givenUp++
    try {
      rmSync(this.#path, { force: true })
    } catch {
      // Read-only disk: writers get that error.
    }
  }

  /** Reports an error, which counts if the disk is full. */
  note(error: unknown): void {
    const failure = error instanceof KsError ? error : diskError(error)
    if (failure?.code !== 'storage-full') return
    // EFBIG is a limit of the process, not of the disk.
    if (isCode(failure.cause, 'EFBIG')) return
    this.ranOut()
  }

  /** Checks whether there is space to write. */
  async hasRoom(): Promise<boolean> {
    const free = this.#free()
    if (free < this.#low && !this.#isFull) this.ranOut()
    if (!this.#isFull) return true
    if (free < this.#wanted() || performance.now() - this.#failedAt < RETRY_MS) return false
    this.#taking ??= this.#take().finally(() => {
      this.#taking = undefined
    })
    return await this.#taking
  }

  /** Grows the file to its full size. @returns whether there is space to write */
  async #take(): Promise<boolean> {
    const givenUp = this.#givenUp
    try {
      await enlarge(this.#path, this.#size)
      if (givenUp !== this.#givenUp) throw new Error('given up meanwhile')
    } catch (error) {
      this.#failedAt = performance.now()
      rmSync(this.#path, { force: true })
      this.note(error)
      return !this.#isFull
    }
    if (!this.#isFull) return true
    this.#isFull = false
    for (const listener of this.#listeners) listener()
    return true
  }

  #later(): void {
    if (this.#closed) return
    this.#timer = setTimeout(() => {
      const again = () => this.#later()
      this.hasRoom().then(again, again)
    }, LOOK_MS)
    this.#timer.unref()
  }

  /** Grows a file to a size, or as far as there is space. */
  async #keep(path: string, size: number): Promise<void> {
    try {
      await enlarge(path, Math.min(size, sizeOf(path) + this.#free()))
    } catch {
      // A part is better than nothing.
    }
  }

  /** Free bytes at which the disk is no longer full: for the reserve, and for writes. */
  #wanted(): number {
    return this.#size - sizeOf(this.#path) + 2 * this.#low
  }

  #free(): number {
    const { bavail, bsize } = statfsSync(this.#folder)
    return bavail * bsize
  }
}

async function enlarge(path: string, size: number): Promise<void> {
  const file = await open(path, 'a', 0o600)
  try {
    // random: some file systems reserve no space for zeros
    const piece = randomBytes(PIECE_BYTES)
    for (let held = (await file.stat()).size; held < size; held += PIECE_BYTES)
      await file.writeFile(piece.subarray(0, Math.min(PIECE_BYTES, size - held)))
  } finally {
    await file.close()
  }
}
