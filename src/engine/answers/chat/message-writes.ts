import type { Driver, WriteOptions } from '../../store/driver.js'
import type { Read, Write } from '../../store/program.js'
import { writeOnce } from '../../store/write-once.js'
import { WriteCoalescer } from './write-coalescer.js'

/** Coalescing of messages that are stored together; in a burst, streams are open long before. */
const COALESCE_LIMITS = { quietMs: 10, maxMs: 400 }

interface SharedStoreOptions<T> {
  /** Finds the message if it is already stored. */
  findStored: () => Read<T | undefined>
  /** Settles when the preceding message is stored or has failed. */
  previous: Promise<unknown> | undefined
  lock?: NonNullable<WriteOptions['lock']>
}

/** Pending writes of messages. Messages of a burst share a commit, in order of arrival. */
export class MessageWrites {
  readonly #db: Driver
  readonly #coalescer = new WriteCoalescer(COALESCE_LIMITS)
  /** By application. */
  readonly #pending = new Map<string, Set<Promise<unknown>>>()

  constructor(db: Driver) {
    this.#db = db
  }

  /** Whether messages arrive so fast that they are stored together, with a delay. */
  get isCoalescing(): boolean {
    return this.#coalescer.isOpen
  }

  /** @param work stores a message, inside a transaction */
  store<T>(appId: string, work: () => Write<T>): Promise<T> {
    return this.#trackPending(
      appId,
      this.#coalescer.wait().then(() => this.#db.write(work)),
    )
  }

  /** Stores a message on a database server, where writes are concurrent and the result of one may be lost. */
  storeOnce<T>(appId: string, work: () => Write<T>, { findStored, previous, lock }: SharedStoreOptions<T>): Promise<T> {
    const options = lock === undefined ? {} : { lock }
    const stored = Promise.allSettled([previous]).then(() => writeOnce(this.#db, work, findStored, options))
    return this.#trackPending(appId, stored)
  }

  #trackPending<T>(appId: string, stored: Promise<T>): Promise<T> {
    const unstored = this.#pending.get(appId) ?? new Set()
    this.#pending.set(appId, unstored.add(stored))
    const forget = () => {
      unstored.delete(stored)
      if (unstored.size === 0) this.#pending.delete(appId)
    }
    stored.then(forget, forget)
    return stored
  }

  /** Resolves when all pending messages of an application are stored or have failed. */
  async stored(appId: string): Promise<void> {
    await Promise.allSettled(this.#pending.get(appId) ?? [])
  }
}
