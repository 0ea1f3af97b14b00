import { setTimeout as sleep } from 'node:timers/promises'

/** how long one that does not come alone waits for others, milliseconds */
const WINDOW_MS = 25

/**
 * Lets writes that come close together share one commit. A burst of requests arrives one connection after another,
 * and a commit after each would make the last of them wait for the disk as often as there are requests. Whoever comes
 * alone waits for nothing; order is kept.
 */
export class Company {
  #last = Number.NEGATIVE_INFINITY
  #window: Promise<void> | undefined

  async wait(): Promise<void> {
    const now = performance.now()
    const alone = this.#window === undefined && now - this.#last > WINDOW_MS
    this.#last = now
    if (alone) return
    this.#window ??= sleep(WINDOW_MS).then(() => {
      this.#window = undefined
    })
    await this.#window
  }
}
