import { KsError } from '../../contract/errors.js'
import { findLargestHolder } from '../../lib/fair-share.js'

interface GateWaiter {
  enter(): void
  reject(error: KsError): void
}

/**
 * Limits how many requests run at once and how many wait. Waiting tenants take turns. When the queue is full, the
 * tenant with the most waiting requests loses its latest to a tenant with fewer: a flood costs its own tenant only.
 */
export class FairGate {
  readonly #limit: number
  readonly #maxWaiting: number
  /** plural, for messages */
  readonly #requestKind: string
  /** first the tenant whose turn is next; of each, the oldest first */
  readonly #waiting = new Map<string, GateWaiter[]>()
  #count = 0
  #running = 0

  constructor(limit: number, maxWaiting: number, requestKind: string) {
    this.#limit = limit
    this.#maxWaiting = maxWaiting
    this.#requestKind = requestKind
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#count
  }

  /**
   * @returns a function that releases the slot, once
   * @throws KsError `busy` when too many requests of the tenant wait already; `unavailable` when the signal aborts
   */
  async enter(tenant: string, signal?: AbortSignal): Promise<() => void> {
    if (this.#running < this.#limit) this.#running++
    else await this.#wait(tenant, signal)
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      const next = this.#next()
      if (next === undefined) this.#running--
      else next.enter()
    }
  }

  #wait(tenant: string, signal: AbortSignal | undefined): Promise<void> {
    // an aborted signal fires no event, and the request must not evict another one
    if (signal?.aborted === true) return Promise.reject(createAbortedError())
    if (this.#count >= this.#maxWaiting) this.#evictOne(tenant)
    return new Promise((resolve, reject) => {
      const stop = () => signal?.removeEventListener('abort', leave)
      const waiter: GateWaiter = {
        enter() {
          stop()
          resolve()
        },
        reject(error) {
          stop()
          reject(error)
        },
      }
      const leave = () => {
        this.#remove(tenant, waiter)
        reject(createAbortedError())
      }
      const waiters = this.#waiting.get(tenant)
      if (waiters === undefined) this.#waiting.set(tenant, [waiter])
      else waiters.push(waiter)
      this.#count++
      signal?.addEventListener('abort', leave, { once: true })
    })
  }

  /** @throws KsError `busy` when no tenant has more waiting requests than its share */
  #evictOne(tenant: string): void {
    const [largest, waiters] = findLargestHolder(this.#waiting, tenant) ?? []
    const last = waiters?.at(-1)
    if (largest === undefined || last === undefined) throw this.#createBusyError()
    this.#remove(largest, last)
    last.reject(this.#createBusyError())
  }

  #createBusyError(): KsError {
    return new KsError(
      'busy',
      `${this.#running} ${this.#requestKind} are running and ${this.#count} are waiting; try again soon`,
      { retryAfter: 1 },
    )
  }

  #next(): GateWaiter | undefined {
    for (const [tenant, waiters] of this.#waiting) {
      const [first] = waiters
      if (first === undefined) continue
      this.#remove(tenant, first)
      const remaining = this.#waiting.get(tenant)
      if (remaining !== undefined) {
        // after the other tenants
        this.#waiting.delete(tenant)
        this.#waiting.set(tenant, remaining)
      }
      return first
    }
    return undefined
  }

  #remove(tenant: string, waiter: GateWaiter): void {
    const waiters = this.#waiting.get(tenant) ?? []
    const index = waiters.indexOf(waiter)
    if (index < 0) return
    waiters.splice(index, 1)
    this.#count--
    if (waiters.length === 0) this.#waiting.delete(tenant)
  }
}

function createAbortedError(): KsError {
  return new KsError('unavailable', 'the request was canceled while it waited')
}
