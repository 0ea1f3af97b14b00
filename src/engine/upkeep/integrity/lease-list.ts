import { KsError } from '../../../contract/errors.js'
import type { Lease as LeaseItem } from '../../../contract/gateway/integrity.js'
import { LIMITS } from '../../../contract/limits.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { decodeCursor, encodeCursor, hashFilter } from '../../base/cursor.js'
import { LEASE_LIFETIME_MS, type LeaseInfo } from '../../base/leases.js'
import type { Page, PageRequest } from '../../base/page.js'
import type { EngineContext } from '../../library/index.js'
import type { Read } from '../../store/program.js'
import { listSpaceLeases } from '../../store/rows/held-leases.js'
import { type CompilingDocument, listCompilingDocuments } from '../../store/rows/job-claims.js'
import type { Reader } from '../../store/rows/permissions.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import { filterHiddenDocuments } from '../rows/integrity/audience.js'

/** Active leases of a space that a reader may see, oldest first. @throws KsError `invalid-cursor` */
export function* listLeases(
  context: EngineContext,
  reader: Reader,
  space: SpaceRow,
  page: PageRequest,
): Read<Page<LeaseItem>> {
  const filter = hashFilter('leases', space.id)
  const limit = Math.min(page.limit, LIMITS.page.cap)
  const after = page.cursor === undefined ? '' : decodePosition(page.cursor, filter)
  const rows = (yield* listVisibleLeases(context, reader, space.key))
    .filter((lease) => lease.id > after)
    .sort((a, b) => (a.id < b.id ? -1 : 1))
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    items: shown.map((lease) => toLeaseItem(lease, space)),
    ...(rows.length > limit && last !== undefined ? { nextCursor: encodeCursor({ after: [last.id] }, filter) } : {}),
  }
}

/** Leases of a space, of all gateways, except those on documents that the reader may not see. */
export function* listVisibleLeases(context: EngineContext, reader: Reader, spaceKey: number): Read<LeaseInfo[]> {
  const leases = [...(yield* listCompilationLeases(spaceKey)), ...(yield* listSpaceLeases(context, spaceKey))]
  const all = leases.sort((a, b) => a.acquiredAt - b.acquiredAt)
  const ids = all.filter(({ targetType }) => targetType === 'document').map(({ targetId }) => targetId)
  if (ids.length === 0) return all
  const hidden = yield* filterHiddenDocuments(reader, ids)
  return all.filter(({ targetId }) => !hidden.has(targetId))
}

/** Whether a compilation on any gateway has a lease on one of these targets, given by id or virtual path. */
export function* isCompiling(spaceKey: number, names: readonly (string | undefined)[]): Read<boolean> {
  return (yield* listCompilationLeases(spaceKey)).some(
    ({ targetId, virtualPath }) => names.includes(targetId) || names.includes(virtualPath),
  )
}

/** Leases of compilations: rows of their jobs, renewed by the heartbeats of their gateways. */
function* listCompilationLeases(spaceKey: number): Read<LeaseInfo[]> {
  return (yield* listCompilingDocuments(spaceKey)).map((job) => toCompilationLease(spaceKey, job))
}

function toCompilationLease(spaceKey: number, job: CompilingDocument): LeaseInfo {
  const heartbeatAt = Math.max(job.claimed_at, job.beat_at ?? 0)
  return {
    id: job.job,
    spaceKey,
    sessionId: job.job,
    type: job.version > 1 ? 'reindex' : 'publish',
    targetType: 'document',
    targetId: job.document,
    targetVersion: job.version,
    virtualPath: `/knowledge/documents/${job.document}`,
    fence: job.fence,
    status: 'active',
    acquiredAt: job.claimed_at,
    heartbeatAt,
    expiresAt: heartbeatAt + LEASE_LIFETIME_MS,
  }
}

function decodePosition(cursor: string, filter: string): string {
  const [after] = decodeCursor(cursor, filter).after
  if (typeof after === 'string') return after
  throw new KsError('invalid-cursor', 'cursor is not one that this list returned for this filter')
}

function toLeaseItem(lease: LeaseInfo, space: SpaceRow): LeaseItem {
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
    ...omitUndefined({ targetVersion: lease.targetVersion }),
    virtualPath: lease.virtualPath,
    metadata: { fence: lease.fence },
    acquiredAt: new Date(lease.acquiredAt).toISOString(),
    heartbeatAt,
    expiresAt: new Date(lease.expiresAt).toISOString(),
    updatedAt: heartbeatAt,
  }
}
