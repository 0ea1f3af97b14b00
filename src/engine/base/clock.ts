import { setImmediate as nextTurn } from 'node:timers/promises'

/** a reader that blocks the event loop for longer yields once */
const HOLD_MILLISECONDS = 8

/** Keeps a long read from blocking the event loop, and knows when its time limit is exceeded. */
export class Clock {
  readonly #deadline: number
  #turned = performance.now()

  /** @param milliseconds time limit of the read; unlimited when not given */
  constructor(milliseconds = Number.POSITIVE_INFINITY) {
    this.#deadline = performance.now() + milliseconds
  }

  /** Whether the time limit is exceeded. */
  get over(): boolean {
    return performance.now() >= this.#deadline
  }

  /** Whether it is time to yield: lets hot loops skip the promise. */
  get due(): boolean {
    return performance.now() - this.#turned > HOLD_MILLISECONDS
  }

  /** Yields to other work when this read has blocked the event loop for a while. */
  async turn(): Promise<void> {
    if (!this.due) return
    await nextTurn()
    this.#turned = performance.now()
  }
}
