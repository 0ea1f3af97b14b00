/** Interval of checks whether the service is still busy, in milliseconds. */
const POLL_MS = 5

interface QueuedStart {
  start: () => void
  since: number
}

/**
 * Releases waiting callers in order of arrival, one per turn of the event loop, so that other work is served in
 * between. While the service is busy it releases nobody, but no caller waits longer than the maximum delay for that.
 */
export class StartQueue {
  readonly #isBusy: () => boolean
  readonly #maxDelayMs: number
  readonly #queue: QueuedStart[] = []

  constructor(busy: () => boolean, maxDelayMs: number) {
    this.#isBusy = busy
    this.#maxDelayMs = maxDelayMs
  }

  wait(): Promise<void> {
    return new Promise((start) => {
      this.#queue.push({ start, since: performance.now() })
      if (this.#queue.length === 1) setImmediate(() => this.#releaseNext())
    })
  }

  #releaseNext(): void {
    const [first] = this.#queue
    if (first === undefined) return
    if (this.#isBusy() && performance.now() - first.since < this.#maxDelayMs) {
      setTimeout(() => this.#releaseNext(), POLL_MS)
      return
    }
    this.#queue.shift()
    first.start()
    if (this.#queue.length > 0) setImmediate(() => this.#releaseNext())
  }
}
