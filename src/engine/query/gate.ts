import { KsError } from '../../contract/errors.js'
import type { RightOfWay } from '../base/right-of-way.js'

interface Waiter {
  enter(): void
  refuse(error: KsError): void
}

/**
 * Queries that run at once, and those that wait for their turn. The tenants that wait take turns, and where the waiting
 * places are all taken, a tenant that holds fewer of them gets one of the tenant that holds most: a flood of one tenant's
 * queries costs that tenant its own, and nobody else's.
 */
export class QueryGate {
  readonly #limit: number
  readonly #maxWaiting: number
  readonly #rightOfWay: RightOfWay | undefined
  /** first the tenant whose turn is next; of each, the oldest first */
  readonly #waiting = new Map<string, Waiter[]>()
  #count = 0
  #running = 0

  /** @param rightOfWay of the queries that run, over what works in the background */
  constructor(limit: number, maxWaiting: number, rightOfWay?: RightOfWay) {
    this.#limit = limit
    this.#maxWaiting = maxWaiting
    this.#rightOfWay = rightOfWay
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#count
  }

  /**
   * @returns what gives the place back, once
   * @throws KsError `busy` when too many of the tenant wait already; `unavailable` when the signal aborts
   */
  async enter(tenant: string, signal: AbortSignal): Promise<() => void> {
    if (this.#running < this.#limit) this.#running++
    else await this.#wait(tenant, signal)
    const end = this.#rightOfWay?.begin()
    let left = false
    return () => {
      if (left) return
      left = true
      end?.()
      const next = this.#next()
      if (next === undefined) this.#running--
      else next.enter()
    }
  }

  #wait(tenant: string, signal: AbortSignal): Promise<void> {
    if (this.#count >= this.#maxWaiting) this.#makeRoom(tenant)
    return new Promise((resolve, reject) => {
      const stop = () => signal.removeEventListener('abort', leave)
      const waiter: Waiter = {
        enter() {
          stop()
          resolve()
        },
        refuse(error) {
          stop()
          reject(error)
        },
      }
      const leave = () => {
        this.#remove(tenant, waiter)
        reject(new KsError('unavailable', 'the query was abandoned while it waited'))
      }
      const others = this.#waiting.get(tenant)
      if (others === undefined) this.#waiting.set(tenant, [waiter])
      else others.push(waiter)
      this.#count++
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  /** The latest query of the tenant that has most waiting gives way to one of a tenant that has fewer. */
  #makeRoom(tenant: string): void {
    const own = this.#waiting.get(tenant)?.length ?? 0
    const [most, theirs] = [...this.#waiting].reduce<[string, Waiter[]]>(
      (found, one) => (one[1].length > found[1].length ? one : found),
      ['', []],
    )
    const last = theirs.at(-1)
    // one more must not make it the tenant with most
    if (last === undefined || theirs.length <= own + 1) throw this.#busy()
    this.#remove(most, last)
    last.refuse(this.#busy())
  }

  #busy(): KsError {
    return new KsError('busy', `${this.#running} queries run and ${this.#count} wait, try again soon`, {
      retryAfter: 1,
    })
  }

  #next(): Waiter | undefined {
    for (const [tenant, waiters] of this.#waiting) {
      const [first] = waiters
      if (first === undefined) continue
      this.#remove(tenant, first)
      const left = this.#waiting.get(tenant)
      if (left !== undefined) {
        // behind the others
        this.#waiting.delete(tenant)
        this.#waiting.set(tenant, left)
      }
      return first
    }
    return undefined
  }

  #remove(tenant: string, waiter: Waiter): void {
    const waiters = this.#waiting.get(tenant) ?? []
    const place = waiters.indexOf(waiter)
    if (place < 0) return
    waiters.splice(place, 1)
    this.#count--
    if (waiters.length === 0) this.#waiting.delete(tenant)
  }
}
