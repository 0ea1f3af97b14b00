import { newId } from '../../lib/ids.js'
import { transitions } from './transitions.js'

export type LeaseType = 'read' | 'publish' | 'delete' | 'reindex'
export type LeaseStatus = 'active' | 'released' | 'expired' | 'failed'

/** What a lease holds, and for whom. */
interface Hold {
  spaceKey: number
  sessionId: string
  /** whose session that is, where it is one of queries, which lives from its first query on */
  subject?: string
  type: LeaseType
  targetType: string
  targetId: string
  targetVersion?: number
  virtualPath: string
}

/** What a lease of this process is asked for with. */
export interface LeaseRequest extends Hold {
  /** of what runs under it, where that has one; a new one otherwise */
  id?: string
  /** compilations hold the row of their job, which every gateway sees */
  type: 'read' | 'delete'
}

/** A hold on something, as it is listed. */
export interface KnownLease extends Hold {
  id: string
  /** rises with every lease */
  fence: number
  status: LeaseStatus
  acquiredAt: number
  heartbeatAt: number
  expiresAt: number
}

/** A hold on something by this process, so that nobody takes it away meanwhile. */
export interface Lease extends KnownLease {
  /** beats now and every 15 s until the lease is released: for work whose end releases it */
  keepAlive(): void
  release(): void
}

/** a lease without a heartbeat ends so soon (decisions.md section 4) */
export const EXPIRES_AFTER_MS = 60_000
export const HEARTBEAT_MS = 15_000

/** active → released | expired | failed (decisions.md section 4) */
const { may: mayMove } = transitions<LeaseStatus>('lease', {
  active: ['released', 'expired', 'failed'],
  released: [],
  expired: [],
  failed: [],
})

interface Held {
  lease: Lease
  /** monotonic clock: a jump of the wall clock neither ends nor prolongs a lease */
  beatAt: number
  timer: NodeJS.Timeout | undefined
}

/**
 * Leases of this process: of those that read and of those that delete. They end with the process and live in memory, since
 * no query writes; after a crash there is nothing to expire. On a server other gateways know them by its heartbeats
 * (`rows/held-leases.ts`). Those of compilations are the rows of their jobs.
 */
export class Leases {
  readonly #active = new Map<string, Held>()
  readonly #clock: () => number
  /** of each space, the end of what was begun last with `inTurn` */
  readonly #turns = new Map<number, Promise<void>>()
  #fence = 0
  #expired = 0

  /** @param clock milliseconds that only grow */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock
  }

  acquire(request: LeaseRequest): Lease {
    const now = Date.now()
    const lease: Lease = {
      ...request,
      id: request.id ?? newId(),
      fence: ++this.#fence,
      status: 'active',
      acquiredAt: now,
      heartbeatAt: now,
      expiresAt: now + EXPIRES_AFTER_MS,
      keepAlive: () => this.#keepAlive(lease),
      release: () => this.#end(lease, 'released'),
    }
    this.#active.set(lease.id, { lease, beatAt: this.#clock(), timer: undefined })
    return lease
  }

  /**
   * Runs what looks at the leases of a space and then takes one, after all such work before it: what one found free is
   * taken before the next one looks.
   */
  async inTurn<T>(spaceKey: number, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(spaceKey)
    const made = before === undefined ? work() : before.then(work)
    const end = made.then(
      () => undefined,
      () => undefined,
    )
    this.#turns.set(spaceKey, end)
    try {
      return await made
    } finally {
      if (this.#turns.get(spaceKey) === end) this.#turns.delete(spaceKey)
    }
  }

  /** Active leases of a space, oldest first. */
  of(spaceKey: number): Lease[] {
    return this.all().filter((lease) => lease.spaceKey === spaceKey)
  }

  /** All that are active. */
  all(): Lease[] {
    this.#expire()
    return [...this.#active.values()].map(({ lease }) => lease)
  }

  /** Since when each space is being read, as pairs of its key and the time of the oldest read lease. */
  readers(): [spaceKey: number, since: number][] {
    this.#expire()
    const since = new Map<number, number>()
    for (const { lease } of this.#active.values())
      if (lease.type === 'read' && !since.has(lease.spaceKey)) since.set(lease.spaceKey, lease.acquiredAt)
    return [...since]
  }

  /** Active leases by their type, and how many were never released. */
  counts(): { active: Map<LeaseType, number>; expired: number } {
    this.#expire()
    const active = new Map<LeaseType, number>()
    for (const { lease } of this.#active.values()) active.set(lease.type, (active.get(lease.type) ?? 0) + 1)
    return { active, expired: this.#expired }
  }

  #keepAlive(lease: Lease): void {
    const held = this.#active.get(lease.id)
    if (held === undefined || held.timer !== undefined) return
    this.#beat(held)
    held.timer = setInterval(() => this.#beat(held), HEARTBEAT_MS)
    held.timer.unref()
  }

  #beat(held: Held): void {
    const now = Date.now()
    held.beatAt = this.#clock()
    held.lease.heartbeatAt = now
    held.lease.expiresAt = now + EXPIRES_AFTER_MS
  }

  #expire(): void {
    const now = this.#clock()
    for (const { lease, beatAt } of [...this.#active.values()])
      if (now - beatAt > EXPIRES_AFTER_MS) this.#end(lease, 'expired')
  }

  #end(lease: Lease, status: LeaseStatus): void {
    if (!mayMove(lease.status, status)) return
    clearInterval(this.#active.get(lease.id)?.timer)
    if (status === 'expired') this.#expired++
    lease.status = status
    this.#active.delete(lease.id)
  }
}
