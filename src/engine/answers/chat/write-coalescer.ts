import { setTimeout as sleep } from 'node:timers/promises'

interface CoalesceLimits {
  /** A group of writes continues when none has joined for this long, in milliseconds. */
  quietMs: number
  /** Maximum wait of a group in milliseconds. */
  maxMs: number
}

/**
 * Groups writes that arrive close together into one commit. A burst of requests arrives one connection after another,
 * and with a commit for each the last one would wait for as many disk syncs as there are requests. A single write does
 * not wait; order is preserved.
 */
export class WriteCoalescer {
  readonly #limits: CoalesceLimits
  #last = Number.NEGATIVE_INFINITY
  #window: Promise<void> | undefined

  constructor(limits: CoalesceLimits) {
    this.#limits = limits
  }

  /** Whether a group is waiting for more writes. */
  get isOpen(): boolean {
    return this.#window !== undefined
  }

  async wait(): Promise<void> {
    const now = performance.now()
    const alone = this.#window === undefined && now - this.#last > this.#limits.quietMs
    this.#last = now
    if (alone) return
    this.#window ??= this.#gather(now)
    await this.#window
  }

  async #gather(since: number): Promise<void> {
    const { quietMs, maxMs } = this.#limits
    for (let remainingMs = Math.min(quietMs, maxMs); remainingMs > 0; ) {
      await sleep(remainingMs)
      const now = performance.now()
      remainingMs = Math.min(this.#last + quietMs, since + maxMs) - now
    }
    this.#window = undefined
  }
}
