import { randomBytes } from 'node:crypto'
import { rmSync, statfsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { KsError } from '../contract/errors.js'
import { diskError } from './disk-error.js'
import { sizeOf } from './file-system.js'
import { isCode } from './private-file.js'

/** How much room a disk has for the data directory. */
export interface RoomState {
  isFull: boolean
  /** bytes that may still be written, the reserve not counted */
  freeBytes: number
  /** bytes that must come free before writing is taken up again; 0 while the disk is not full */
  missingBytes: number
}

/** What a start takes before it can tell anybody that the disk is full. */
const START_BYTES = 2 * 1024 * 1024
const START_SHARE = 1 / 32
/** What deletions, the traces of queries and the end of jobs take while there is no room for anything else. */
const RESERVE_BYTES = 16 * 1024 * 1024
/** of a small disk only a part */
const RESERVE_SHARE = 1 / 8
/** below this the disk counts as full before a write has failed: the database's log alone takes as much at a time */
const LOW_BYTES = 1024 * 1024
const LOW_SHARE = 1 / 64
const PIECE_BYTES = 256 * 1024
/** what a quota leaves does not show in what the disk has free, only by taking it */
const RETRY_MS = 1000
const LOOK_MS = 5000

/**
 * The room that the data directory keeps for itself: a file of random bytes, made while there is room and given up when
 * a write finds none. The disk counts as full until the file could be made again. A second, smaller one is given up at a
 * start only, and taken back as far as it can be when the start is over.
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
  /** rises when the room is given up: a file that was being made then is not kept */
  #givenUp = 0
  #failedAt = Number.NEGATIVE_INFINITY
  #taking: Promise<boolean> | undefined
  #timer: NodeJS.Timeout | undefined
  #closed = false

  /**
   * @param path the file
   * @param folder a folder that is there, on the disk that this is about
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

  /** Takes the room while there is some, gives it up where there is none, and looks again every few seconds. */
  async begin(): Promise<void> {
    const missing = Math.max(0, this.#size - sizeOf(this.#path))
    if (this.#free() < missing + this.#low) {
      this.ranOut()
      rmSync(this.#startPath, { force: true })
    } else if (missing > 0) await this.#take()
    this.#later()
  }

  /** Takes back what only a start may use. */
  async started(): Promise<void> {
    await this.#keep(this.#startPath, this.#startSize)
  }

  /** Keeps for the next start what is left of the room. */
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

  /** Calls `listener` whenever there is room again. */
  onRoom(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /** A write found no room: what is kept is given up to those that may use it. */
  ranOut(): void {
    this.#isFull = true
    this.#givenUp++
    try {
      rmSync(this.#path, { force: true })
    } catch {
      // a disk that can only be read: writers are told so
    }
  }

  /** Takes note of a failure, should it be one of a full disk. */
  note(error: unknown): void {
    const failure = error instanceof KsError ? error : diskError(error)
    if (failure?.code !== 'storage-full') return
    // a file that would pass a limit of the process says nothing of the disk
    if (isCode(failure.cause, 'EFBIG')) return
    this.ranOut()
  }

  /** Looks whether there is room to write. */
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

  /** Makes the file as large as it should be. @returns whether there is room to write */
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

  /** Makes a file as large as it should be, or as there is room for. */
  async #keep(path: string, size: number): Promise<void> {
    try {
      await enlarge(path, Math.min(size, sizeOf(path) + this.#free()))
    } catch {
      // a part of it is better than nothing
    }
  }

  /** Free bytes at which the disk is no longer full: for the file, and for something to write beside it. */
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
    // random: some file systems keep no room for zeros
    const piece = randomBytes(PIECE_BYTES)
    for (let held = (await file.stat()).size; held < size; held += PIECE_BYTES)
      await file.writeFile(piece.subarray(0, Math.min(PIECE_BYTES, size - held)))
  } finally {
    await file.close()
  }
}
