import { LEASE_LIFETIME_MS, type LeaseInfo, type Leases } from '../../base/leases.js'
import { type Read, sql, type Write } from '../program.js'
import { hasOtherGateways } from './gateways.js'

/*
 * Leases of other gateways, as of their last heartbeats. A lease exists in the memory of its gateway, since queries
 * never write. A deletion waits until every gateway has reported its leases, or is taken for dead.
 */

/** The leases of this gateway, and whether the database is shared with others. */
export interface LeaseView {
  leases: Leases
  instance: string
  isShared: boolean
}

/** upper bound for the difference between clocks of machines */
const SKEW_MS = 30_000
/** A live gateway has reported its leases within this time: one that has not is taken for dead. */
const MAX_REPORT_AGE_MS = LEASE_LIFETIME_MS + SKEW_MS
/** stands for every space, instead of a space's key */
const ANY_SPACE = 0

interface HeldLeaseRow {
  id: string
  space_key: number
  session_id: string
  subject: string | null
  type: 'read' | 'delete'
  target_type: string
  target_id: string
  target_version: number | null
  virtual_path: string
  fence: number
  acquired_at: number
  heartbeat_at: number
}

/** Replaces the reported leases of a gateway. The gateway's own row exists. */
export function* reportLeases(gateway: string, current: readonly LeaseInfo[]): Write<void> {
  yield* sql.run('DELETE FROM held_leases WHERE gateway = ?', [gateway])
  for (const lease of current)
    yield* sql.run(
      `INSERT INTO held_leases (gateway, id, space_key, session_id, subject, type, target_type, target_id, target_version,
         virtual_path, fence, acquired_at, heartbeat_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        gateway,
        lease.id,
        lease.spaceKey,
        lease.sessionId,
        lease.subject ?? null,
        lease.type,
        lease.targetType,
        lease.targetId,
        lease.targetVersion ?? null,
        lease.virtualPath,
        lease.fence,
        lease.acquiredAt,
        lease.heartbeatAt,
      ],
    )
}

/** Leases of a space, of all gateways, oldest first. */
export function* listSpaceLeases({ leases, instance, isShared }: LeaseView, spaceKey: number): Read<LeaseInfo[]> {
  const own = leases.listBySpace(spaceKey)
  if (!isShared) return own
  const rows = yield* sql.all<HeldLeaseRow>('SELECT * FROM held_leases WHERE space_key = ? AND gateway <> ?', [
    spaceKey,
    instance,
  ])
  return [...own, ...rows.map(toLease)].sort((a, b) => a.acquiredAt - b.acquiredAt)
}

/** Whether a publication of the space is being read, by a lease from before `before` if that is given. */
export function* isBeingRead(view: LeaseView, spaceKey: number, before = Number.POSITIVE_INFINITY): Read<boolean> {
  return (yield* listSpaceLeases(view, spaceKey)).some(({ type, acquiredAt }) => type === 'read' && acquiredAt < before)
}

/** Whether a lease of the space names one of these targets, by id, object key or virtual path. */
export function* isLeased(view: LeaseView, spaceKey: number, names: readonly (string | undefined)[]): Read<boolean> {
  return (yield* listSpaceLeases(view, spaceKey)).some(
    ({ targetId, virtualPath }) => names.includes(targetId) || names.includes(virtualPath),
  )
}

/**
 * The oldest read of each space, as JSON pairs of the space's key and a time; the key 0 stands for every space.
 *
 * @param now the time that rows are marked as deleted with
 */
export function* listReadersSince({ leases, instance, isShared }: LeaseView, now: number): Read<string> {
  const own = leases.listReadSpaces()
  // a gateway that joins later reads the rows that exist then, and nothing that was deleted before
  if (!isShared || !(yield* hasOtherGateways(instance))) return JSON.stringify(own)
  const others = yield* sql.all<{ space_key: number; since: number }>(
    "SELECT space_key, min(acquired_at) since FROM held_leases WHERE type = 'read' AND gateway <> ? GROUP BY space_key",
    [instance],
  )
  const reported = others.map(({ space_key, since }) => [space_key, since - SKEW_MS])
  return JSON.stringify([...own, ...reported, [ANY_SPACE, now - MAX_REPORT_AGE_MS]])
}

function toLease(row: HeldLeaseRow): LeaseInfo {
  return {
    id: row.id,
    spaceKey: row.space_key,
    sessionId: row.session_id,
    ...(row.subject === null ? {} : { subject: row.subject }),
    type: row.type,
    targetType: row.target_type,
    targetId: row.target_id,
    ...(row.target_version === null ? {} : { targetVersion: row.target_version }),
    virtualPath: row.virtual_path,
    fence: row.fence,
    status: 'active',
    acquiredAt: row.acquired_at,
    heartbeatAt: row.heartbeat_at,
    expiresAt: row.heartbeat_at + LEASE_LIFETIME_MS,
  }
}
