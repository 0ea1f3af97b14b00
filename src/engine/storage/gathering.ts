/** Gathering ends after about this long, even if each turn of the event loop still adds work. */
const GATHER_MILLISECONDS = 16

/**
 * Runs work once for all pending entries. Waits until one turn of the event loop adds none, so that concurrent requests
 * share one run. A lone request waits for one empty turn.
 */
export class Gathering {
  readonly #waiting: () => number
  readonly #work: () => void
  #isScheduled = false
  /** time of the first pending entry, and their count one turn ago */
  #since = 0
  #seen = 0

  /** @param waiting counts the pending entries */
  constructor(waiting: () => number, work: () => void) {
    this.#waiting = waiting
    this.#work = work
  }

  /** Schedules a run; to be called for each new entry. */
  ask(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#since = performance.now()
    this.#seen = 0
    setImmediate(() => this.#turn())
  }

  /** Schedules a run in the next turn, for entries that the last run left. */
  goOn(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#run())
  }

  #turn(): void {
    const waiting = this.#waiting()
    if (waiting === this.#seen || performance.now() - this.#since > GATHER_MILLISECONDS) {
      this.#run()
      return
    }
    this.#seen = waiting
    setImmediate(() => this.#turn())
  }

  #run(): void {
    this.#isScheduled = false
    this.#work()
  }
}
