/** how often it is looked again whether the way is free, milliseconds */
const LOOK_MS = 5

interface Waiting {
  go: () => void
  since: number
}

/**
 * Lets those who wait go on in the order they came, one each turn of the event loop, so that whatever arrives meanwhile
 * is served in between. While it is busy nobody goes, but nobody waits for that longer than the patience.
 */
export class StartQueue {
  readonly #busy: () => boolean
  readonly #patienceMs: number
  readonly #waiting: Waiting[] = []

  constructor(busy: () => boolean, patienceMs: number) {
    this.#busy = busy
    this.#patienceMs = patienceMs
  }

  wait(): Promise<void> {
    return new Promise((go) => {
      this.#waiting.push({ go, since: performance.now() })
      if (this.#waiting.length === 1) setImmediate(() => this.#next())
    })
  }

  #next(): void {
    const [first] = this.#waiting
    if (first === undefined) return
    if (this.#busy() && performance.now() - first.since < this.#patienceMs) {
      setTimeout(() => this.#next(), LOOK_MS)
      return
    }
    this.#waiting.shift()
    first.go()
    if (this.#waiting.length > 0) setImmediate(() => this.#next())
  }
}
