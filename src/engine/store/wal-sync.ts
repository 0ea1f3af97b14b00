import { closeSync, fdatasync, openSync } from 'node:fs'
import { rewriteWal } from './wal-file.js'

/**
 * Syncs the write-ahead log in the thread pool, for commits that did not sync it. Nothing else waits for the disk
 * meanwhile, and commits during a sync share the next one. SQLite keeps no lock on this file, so opening and closing it
 * releases none.
 */
export class WalSync {
  readonly #path: string
  #file: number | undefined
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined
  #failure: unknown

  /** @param path of the log */
  constructor(path: string) {
    this.#path = path
  }

  /** Whether a sync failed and the log was not rewritten since: later frames are not certain to be durable either. */
  get hasFailed(): boolean {
    return this.#failure !== undefined
  }

  /** To be called after a commit. @throws the error of the disk, also for later commits, until `repair` */
  sync(): Promise<void> {
    if (this.#running === undefined) return this.#begin()
    // the running sync may have started before the commit
    this.#next ??= this.#running.then(
      () => this.#begin(),
      () => this.#begin(),
    )
    return this.#next
  }

  /** Resolves when everything committed until now is durable, or its sync has failed. */
  async waitUntilIdle(): Promise<void> {
    await (this.#next ?? this.#running)?.catch(() => undefined)
  }

  /**
   * Makes the log durable after a failed sync. The caller holds the write lock.
   *
   * @param frames number of frames that SQLite knows in the log
   * @throws the error of the disk, or an error where the log does not read back as written
   */
  repair(frames: number): void {
    rewriteWal(this.#path, frames)
    this.#failure = undefined
  }

  /** To be called after the database was closed. */
  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  #begin(): Promise<void> {
    this.#next = undefined
    const running = this.#syncNow().finally(() => {
      if (this.#running === running) this.#running = undefined
    })
    this.#running = running
    return running
  }

  async #syncNow(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    try {
      this.#file ??= openSync(this.#path, 'r+')
      await syncFile(this.#file)
    } catch (error) {
      this.#failure = error
      throw error
    }
  }
}

function syncFile(file: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fdatasync(file, (error) => (error === null ? resolve() : reject(error)))
  })
}
