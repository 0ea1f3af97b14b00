import { KsError } from '../../contract/errors.js'
import type { Lease as LeaseItem } from '../../contract/gateway/integrity.js'
import { LIMITS } from '../../contract/limits.js'
import type { Page, PageRequest } from '../api.js'
import { decodeCursor, encodeCursor, filterHash } from '../cursor.js'
import type { Lease, Leases } from '../leases.js'
import type { SpaceRow } from '../spaces/store.js'

/** Active leases of a space, oldest first. @throws KsError `invalid-cursor` */
export function listLeases(leases: Leases, space: SpaceRow, page: PageRequest): Page<LeaseItem> {
  const filter = filterHash('leases', space.id)
  const limit = Math.min(page.limit, LIMITS.page.cap)
  const after = page.cursor === undefined ? '' : placeOf(page.cursor, filter)
  const rows = leases
    .of(space.key)
    .filter((lease) => lease.id > after)
    .sort((a, b) => (a.id < b.id ? -1 : 1))
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    items: shown.map((lease) => toItem(lease, space)),
    ...(rows.length > limit && last !== undefined ? { nextCursor: encodeCursor({ after: [last.id] }, filter) } : {}),
  }
}

function placeOf(cursor: string, filter: string): string {
  const [after] = decodeCursor(cursor, filter).after
  if (typeof after === 'string') return after
  throw new KsError('invalid-cursor', 'cursor is not one that this list returned for this filter')
}

function toItem(lease: Lease, space: SpaceRow): LeaseItem {
  const heartbeatAt = new Date(lease.heartbeatAt).toISOString()
  return {
    id: lease.id,
    knowledgeSpaceId: space.id,
    tenantId: space.tenant,
    sessionId: lease.sessionId,
    leaseType: lease.type,
    status: lease.status,
    targetId: lease.targetId,
    targetType: lease.targetType,
    ...(lease.targetVersion === undefined ? {} : { targetVersion: lease.targetVersion }),
    virtualPath: lease.virtualPath,
    metadata: { fence: lease.fence },
    acquiredAt: new Date(lease.acquiredAt).toISOString(),
    heartbeatAt,
    expiresAt: new Date(lease.expiresAt).toISOString(),
    updatedAt: heartbeatAt,
  }
}
