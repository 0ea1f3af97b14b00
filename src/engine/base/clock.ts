import { setImmediate as nextTurn } from 'node:timers/promises'

/** a reader that holds the event loop longer than this gives it a turn */
const HOLD_MILLISECONDS = 8

/** Keeps a long read from holding the event loop, and tells when its time is over. */
export class Clock {
  readonly #deadline: number
  #turned = performance.now()

  /** @param milliseconds time the read may take; unlimited when not given */
  constructor(milliseconds = Number.POSITIVE_INFINITY) {
    this.#deadline = performance.now() + milliseconds
  }

  /** Whether the time is over. */
  get over(): boolean {
    return performance.now() >= this.#deadline
  }

  /** Whether a turn is due: lets hot loops skip the promise. */
  get due(): boolean {
    return performance.now() - this.#turned > HOLD_MILLISECONDS
  }

  /** Lets others run, when this read has held the event loop for a while. */
  async turn(): Promise<void> {
    if (!this.due) return
    await nextTurn()
    this.#turned = performance.now()
  }
}
