/** Wakes its waiters when something has changed. */
export class ChangeNotifier {
  readonly #waiters = new Set<() => void>()

  notify(): void {
    for (const done of this.#waiters) done()
  }

  /** Waits for the next notification, until the signal aborts, or for at most `milliseconds`. */
  waitForNext(signal?: AbortSignal, milliseconds?: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        this.#waiters.delete(done)
        resolve()
      }
      const timer = milliseconds === undefined ? undefined : setTimeout(done, milliseconds)
      signal?.addEventListener('abort', done, { once: true })
      this.#waiters.add(done)
    })
  }
}
