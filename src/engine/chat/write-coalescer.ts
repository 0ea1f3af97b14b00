import { setTimeout as sleep } from 'node:timers/promises'

interface CoalesceLimits {
  /** those that gathered go on when nobody has joined them for this long, milliseconds */
  quietMs: number
  /** and after this long at the latest */
  mostMs: number
}

/**
 * Lets writes that come close together share one commit. A burst of requests arrives one connection after another,
 * and a commit after each would make the last of them wait for the disk as often as there are requests. A write that comes
 * alone waits for nothing; order is kept.
 */
export class WriteCoalescer {
  readonly #patience: CoalesceLimits
  #last = Number.NEGATIVE_INFINITY
  #window: Promise<void> | undefined

  constructor(patience: CoalesceLimits) {
    this.#patience = patience
  }

  /** Whether some wait for more to come. */
  get isOpen(): boolean {
    return this.#window !== undefined
  }

  async wait(): Promise<void> {
    const now = performance.now()
    const alone = this.#window === undefined && now - this.#last > this.#patience.quietMs
    this.#last = now
    if (alone) return
    this.#window ??= this.#gather(now)
    await this.#window
  }

  async #gather(since: number): Promise<void> {
    const { quietMs, mostMs } = this.#patience
    for (let left = Math.min(quietMs, mostMs); left > 0; ) {
      await sleep(left)
      const now = performance.now()
      left = Math.min(this.#last + quietMs, since + mostMs) - now
    }
    this.#window = undefined
  }
}
