/** Tells those who wait that something has changed. */
export class Changes {
  readonly #waiting = new Set<() => void>()

  tell(): void {
    for (const done of this.#waiting) done()
  }

  /** Waits until something is told or the signal aborts, and where that is given for so many milliseconds at most. */
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
