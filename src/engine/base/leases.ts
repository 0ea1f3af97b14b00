import { newId } from '../../lib/ids.js'
import { defineTransitions } from './transitions.js'

export type LeaseType = 'read' | 'publish' | 'delete' | 'reindex'
export type LeaseStatus = 'active' | 'released' | 'expired' | 'failed'

/** The target of a lease and its session. */
interface LeaseTarget {
  spaceKey: number
  sessionId: string
  /** subject of the session, for sessions of queries: those exist from their first query on */
  subject?: string
  type: LeaseType
  targetType: string
  targetId: string
  targetVersion?: number
  virtualPath: string
}

/** Parameters of a new lease of this process. */
export interface LeaseRequest extends LeaseTarget {
  /** id of the operation that runs under the lease, if it has one; a new id otherwise */
  id?: string
  /** compilations use the row of their job as their lease; every gateway sees it */
  type: 'read' | 'delete'
}

/** A lease as it is listed. */
export interface LeaseInfo extends LeaseTarget {
  id: string
  /** rises with every lease */
  fence: number
  status: LeaseStatus
  acquiredAt: number
  heartbeatAt: number
  expiresAt: number
}

/** A lease of this process: protects its target from deletion. */
export interface ReadLease extends LeaseInfo {
  /** renews now and every 15 s until the lease is released: for work that releases it at its end */
  keepAlive(): void
  release(): void
}

/** a lease without a heartbeat expires after this time (decisions.md section 4) */
export const LEASE_LIFETIME_MS = 60_000
export const LEASE_HEARTBEAT_MS = 15_000

/** active → released | expired | failed (decisions.md section 4) */
const { may: mayMove } = defineTransitions<LeaseStatus>('lease', {
  active: ['released', 'expired', 'failed'],
  released: [],
  expired: [],
  failed: [],
})

interface ActiveLease {
  lease: ReadLease
  /** monotonic clock: a jump of the wall clock neither ends nor extends a lease */
  beatAt: number
  timer: NodeJS.Timeout | undefined
}

/**
 * Read and delete leases of this process. They live in memory, since queries never write; after a crash there is
 * nothing to expire. On a database server other gateways know them by their heartbeats (`rows/held-leases.ts`). Leases
 * of compilations are the rows of their jobs.
 */
export class Leases {
  readonly #active = new Map<string, ActiveLease>()
  readonly #now: () => number
  readonly #monotonic: () => number
  /** per space, the end of the last work of `runInOrder` */
  readonly #lastWork = new Map<number, Promise<void>>()
  #fence = 0
  #expired = 0

  /** @param now milliseconds since the epoch @param monotonic time in milliseconds */
  constructor(now: () => number, monotonic: () => number = () => performance.now()) {
    this.#now = now
    this.#monotonic = monotonic
  }

  acquire(request: LeaseRequest): ReadLease {
    const now = this.#now()
    const lease: ReadLease = {
      ...request,
      id: request.id ?? newId(),
      fence: ++this.#fence,
      status: 'active',
      acquiredAt: now,
      heartbeatAt: now,
      expiresAt: now + LEASE_LIFETIME_MS,
      keepAlive: () => this.#keepAlive(lease),
      release: () => this.#end(lease, 'released'),
    }
    this.#active.set(lease.id, { lease, beatAt: this.#monotonic(), timer: undefined })
    return lease
  }

  /**
   * Runs work that checks the leases of a space and then takes one, after all earlier such work: no two runs find the
   * same target free.
   */
  async runInOrder<T>(spaceKey: number, work: () => Promise<T>): Promise<T> {
    const previous = this.#lastWork.get(spaceKey)
    const result = previous === undefined ? work() : previous.then(work)
    const end = result.then(
      () => undefined,
      () => undefined,
    )
    this.#lastWork.set(spaceKey, end)
    try {
      return await result
    } finally {
      if (this.#lastWork.get(spaceKey) === end) this.#lastWork.delete(spaceKey)
    }
  }

  /** Active leases of a space, oldest first. */
  listBySpace(spaceKey: number): ReadLease[] {
    return this.listActive().filter((lease) => lease.spaceKey === spaceKey)
  }

  /** All active leases. */
  listActive(): ReadLease[] {
    this.#expire()
    return [...this.#active.values()].map(({ lease }) => lease)
  }

  /** The spaces that are being read, as pairs of the space's key and the time of its oldest read lease. */
  listReadSpaces(): [spaceKey: number, since: number][] {
    this.#expire()
    const since = new Map<number, number>()
    for (const { lease } of this.#active.values())
      if (lease.type === 'read' && !since.has(lease.spaceKey)) since.set(lease.spaceKey, lease.acquiredAt)
    return [...since]
  }

  /** Counts of active leases by type, and of leases that expired without release. */
  counts(): { active: Map<LeaseType, number>; expired: number } {
    this.#expire()
    const active = new Map<LeaseType, number>()
    for (const { lease } of this.#active.values()) active.set(lease.type, (active.get(lease.type) ?? 0) + 1)
    return { active, expired: this.#expired }
  }

  #keepAlive(lease: ReadLease): void {
    const active = this.#active.get(lease.id)
    if (active === undefined || active.timer !== undefined) return
    this.#beat(active)
    active.timer = setInterval(() => this.#beat(active), LEASE_HEARTBEAT_MS)
    active.timer.unref()
  }

  #beat(active: ActiveLease): void {
    const now = this.#now()
    active.beatAt = this.#monotonic()
    active.lease.heartbeatAt = now
    active.lease.expiresAt = now + LEASE_LIFETIME_MS
  }

  #expire(): void {
    const now = this.#monotonic()
    for (const { lease, beatAt } of [...this.#active.values()])
      if (now - beatAt > LEASE_LIFETIME_MS) this.#end(lease, 'expired')
  }

  #end(lease: ReadLease, status: LeaseStatus): void {
    if (!mayMove(lease.status, status)) return
    clearInterval(this.#active.get(lease.id)?.timer)
    if (status === 'expired') this.#expired++
    lease.status = status
    this.#active.delete(lease.id)
  }
}
