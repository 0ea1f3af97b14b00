import { closeSync, fdatasync, openSync } from 'node:fs'
import { rewriteWal } from './wal-file.js'

/**
 * Syncs the write-ahead log in the thread pool, for commits that did not: nothing else waits for the disk meanwhile, and
 * those that come in that time share the next sync. SQLite keeps no lock on this file, so opening it takes none away.
 */
export class LogSync {
  readonly #path: string
  #file: number | undefined
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined
  #failure: unknown

  /** @param path of the log */
  constructor(path: string) {
    this.#path = path
  }

  /** Whether a sync failed and the log was not written again since: nothing that comes behind in it is sure either. */
  get isUnsure(): boolean {
    return this.#failure !== undefined
  }

  /** To be called after a commit. @throws what the disk says, also to those that come after, until `repair` */
  sync(): Promise<void> {
    if (this.#running === undefined) return this.#begin()
    // the one that runs may have begun before the commit
    this.#next ??= this.#running.then(
      () => this.#begin(),
      () => this.#begin(),
    )
    return this.#next
  }

  /** Resolves when what was committed until now is durable, or its sync has failed. */
  async settled(): Promise<void> {
    await (this.#next ?? this.#running)?.catch(() => undefined)
  }

  /**
   * Makes all durable that the log holds after a sync that failed; for who holds the lock of writers.
   *
   * @param frames that SQLite knows in it
   * @throws what the disk says, and where the log does not read as it was written
   */
  repair(frames: number): void {
    rewriteWal(this.#path, frames)
    this.#failure = undefined
  }

  /** After the database was closed. */
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
      await synced(this.#file)
    } catch (error) {
      this.#failure = error
      throw error
    }
  }
}

function synced(file: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fdatasync(file, (error) => (error === null ? resolve() : reject(error)))
  })
}
