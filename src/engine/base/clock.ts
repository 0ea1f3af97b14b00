import { setImmediate as nextTurn } from 'node:timers/promises'

/** a reader that blocks the event loop for longer yields once */
const MAX_BLOCK_MS = 8

/** Keeps a long read from blocking the event loop, and knows when its time limit is exceeded. */
export class ReadClock {
  readonly #deadline: number
  #yieldedAt = performance.now()

  /** @param milliseconds time limit of the read; unlimited when not given */
  constructor(milliseconds = Number.POSITIVE_INFINITY) {
    this.#deadline = performance.now() + milliseconds
  }

  /** Whether the time limit is exceeded. */
  get isOver(): boolean {
    return performance.now() >= this.#deadline
  }

  /** Whether it is time to yield: lets hot loops skip the promise. */
  get isYieldDue(): boolean {
    return performance.now() - this.#yieldedAt > MAX_BLOCK_MS
  }

  /** Yields to other work when this read has blocked the event loop for a while. */
  async yieldIfDue(): Promise<void> {
    if (!this.isYieldDue) return
    await nextTurn()
    this.#yieldedAt = performance.now()
  }
}
