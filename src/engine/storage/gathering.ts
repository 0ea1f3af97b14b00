/** Waiting for more ends after about this long, though each turn of the event loop brings some. */
const GATHER_MILLISECONDS = 16

/**
 * Runs work for all that waits at once: not before a turn of the event loop brought nothing more, so that what is asked
 * at the same time is done together. Who is alone waits for one empty turn.
 */
export class Gathering {
  readonly #waiting: () => number
  readonly #work: () => void
  #isScheduled = false
  /** when the first of what waits came, and how many there were a turn ago */
  #since = 0
  #seen = 0

  /** @param waiting how many wait */
  constructor(waiting: () => number, work: () => void) {
    this.#waiting = waiting
    this.#work = work
  }

  /** Called for each that waits. */
  ask(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#since = performance.now()
    this.#seen = 0
    setImmediate(() => this.#turn())
  }

  /** For what the work has left: in the next turn. */
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
