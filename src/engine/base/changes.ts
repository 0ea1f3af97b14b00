/** Wakes its waiters when something has changed. */
export class Changes {
  readonly #waiting = new Set<() => void>()

  tell(): void {
    for (const done of this.#waiting) done()
  }

  /** Waits for the next notification, until the signal aborts, or for at most `milliseconds`. */
  next(signal: AbortSignal, milliseconds?: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', done)
        this.#waiting.delete(done)
        resolve()
      }
      const timer = milliseconds === undefined ? undefined : setTimeout(done, milliseconds)
      signal.addEventListener('abort', done, { once: true })
      this.#waiting.add(done)
    })
  }
}
