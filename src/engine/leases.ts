import { newId } from '../lib/ids.js'

export type LeaseType = 'read' | 'publish' | 'delete' | 'reindex'

/** A hold on something, so that nobody takes it away meanwhile. */
export interface Lease {
  id: string
  spaceKey: number
  sessionId: string
  type: LeaseType
  targetType: string
  targetId: string
  virtualPath: string
  acquiredAt: number
  expiresAt: number
  release(): void
}

const LEASE_MILLISECONDS = 60_000

/**
 * Leases of this process. One process owns a data directory and a lease ends with its process, so they live in memory:
 * after a crash there is nothing to expire.
 */
export class Leases {
  readonly #active = new Map<string, Lease>()

  acquire(lease: Omit<Lease, 'id' | 'acquiredAt' | 'expiresAt' | 'release'>): Lease {
    const id = newId()
    const now = Date.now()
    const held: Lease = {
      ...lease,
      id,
      acquiredAt: now,
      expiresAt: now + LEASE_MILLISECONDS,
      release: () => {
        this.#active.delete(id)
      },
    }
    this.#active.set(id, held)
    return held
  }

  /** Active leases of a space, oldest first. Holding a lease is its heartbeat: it ends when the work does. */
  of(spaceKey: number): Lease[] {
    return [...this.#active.values()].filter((lease) => lease.spaceKey === spaceKey)
  }
}
