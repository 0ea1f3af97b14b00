/** Gathering ends after about this long, even if each turn of the event loop still adds work. */
const MAX_GATHER_MILLISECONDS = 16

/**
 * Runs work once for all pending entries. Waits until one turn of the event loop adds none, so that concurrent requests
 * share one run. A lone request waits for one empty turn.
 */
export class BatchScheduler {
  readonly #countPending: () => number
  readonly #work: () => void
  #isScheduled = false
  /** time of the first pending entry, and their count one turn ago */
  #since = 0
  #lastCount = 0

  constructor(countPending: () => number, work: () => void) {
    this.#countPending = countPending
    this.#work = work
  }

  /** Schedules a run; to be called for each new entry. */
  schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#since = performance.now()
    this.#lastCount = 0
    setImmediate(() => this.#turn())
  }

  /** Schedules a run in the next turn, for entries that the last run left. */
  scheduleNextTurn(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#run())
  }

  #turn(): void {
    const count = this.#countPending()
    if (count === this.#lastCount || performance.now() - this.#since > MAX_GATHER_MILLISECONDS) {
      this.#run()
      return
    }
    this.#lastCount = count
    setImmediate(() => this.#turn())
  }

  #run(): void {
    this.#isScheduled = false
    this.#work()
  }
}
