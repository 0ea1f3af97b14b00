import type { Driver, WriteOptions } from '../storage/driver.js'
import type { Read, Write } from '../storage/program.js'
import { writeOnce } from '../storage/write-once.js'
import { WriteCoalescer } from './write-coalescer.js'

/** how long a message waits for others to be stored with; in a burst its stream is open long before */
const PATIENCE = { quietMs: 10, mostMs: 400 }

interface OnServer<T> {
  /** finds the message where it is stored */
  look: () => Read<T | undefined>
  /** resolves, or not, when the message is stored that goes before */
  before: Promise<unknown> | undefined
  lock?: NonNullable<WriteOptions['lock']>
}

/** Messages on their way to the disk. Those that come in a burst share a commit, in the order they came. */
export class MessageWrites {
  readonly #db: Driver
  readonly #coalescer = new WriteCoalescer(PATIENCE)
  /** by application */
  readonly #unstored = new Map<string, Set<Promise<unknown>>>()

  constructor(db: Driver) {
    this.#db = db
  }

  /** Whether messages come so close together that they are stored together, somewhat later. */
  get isCoalescing(): boolean {
    return this.#coalescer.isOpen
  }

  /** @param work stores a message, inside a transaction */
  store<T>(appId: string, work: () => Write<T>): Promise<T> {
    return this.#known(
      appId,
      this.#coalescer.wait().then(() => this.#db.write(work)),
    )
  }

  /** The same on a server, where several are stored at a time and an answer may be lost. */
  storeOnce<T>(appId: string, work: () => Write<T>, { look, before, lock }: OnServer<T>): Promise<T> {
    const options = lock === undefined ? {} : { lock }
    const stored = Promise.allSettled([before]).then(() => writeOnce(this.#db, work, look, options))
    return this.#known(appId, stored)
  }

  #known<T>(appId: string, stored: Promise<T>): Promise<T> {
    const unstored = this.#unstored.get(appId) ?? new Set()
    this.#unstored.set(appId, unstored.add(stored))
    const forget = () => {
      unstored.delete(stored)
      if (unstored.size === 0) this.#unstored.delete(appId)
    }
    stored.then(forget, forget)
    return stored
  }

  /** Resolves when the messages of an application that have come so far are stored, or have failed to be. */
  async stored(appId: string): Promise<void> {
    await Promise.allSettled(this.#unstored.get(appId) ?? [])
  }
}
