import { EXPIRES_AFTER_MS, type KnownLease, type Leases } from '../base/leases.js'
import { type Read, sql, type Write } from '../storage/program.js'
import { othersThan } from './gateways.js'

/*
 * Leases that other gateways hold, as of their last heartbeats. A lease lives in the memory of its gateway, since no
 * question writes; who removes what somebody may read waits until every lease that could matter has been told of.
 */

/** What knows the leases of this gateway, and whether there are others. */
export interface LeaseView {
  leases: Leases
  instance: string
  isShared: boolean
}

/** clocks of machines differ by less */
const SKEW_MS = 30_000
/** A gateway that is alive has told of its leases within this time: one that has not is taken for dead. */
const UNTOLD_MS = EXPIRES_AFTER_MS + SKEW_MS
/** in place of the key of a space: of every space */
const ANY_SPACE = 0

interface HeldRow {
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

/** Tells what a gateway holds now, in place of what it held before. Its own row is there. */
export function* tellLeases(gateway: string, held: readonly KnownLease[]): Write<void> {
  yield* sql.run('DELETE FROM held_leases WHERE gateway = ?', [gateway])
  for (const lease of held)
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
export function* leasesOf({ leases, instance, isShared }: LeaseView, spaceKey: number): Read<KnownLease[]> {
  const own = leases.of(spaceKey)
  if (!isShared) return own
  const rows = yield* sql.all<HeldRow>('SELECT * FROM held_leases WHERE space_key = ? AND gateway <> ?', [
    spaceKey,
    instance,
  ])
  return [...own, ...rows.map(toLease)].sort((a, b) => a.acquiredAt - b.acquiredAt)
}

/** Whether somebody reads a publication of the space, since before a time where that is given. */
export function* isRead(view: LeaseView, spaceKey: number, before = Number.POSITIVE_INFINITY): Read<boolean> {
  return (yield* leasesOf(view, spaceKey)).some(({ type, acquiredAt }) => type === 'read' && acquiredAt < before)
}

/** Whether a lease of the space names one of these things, by id, object key or virtual path. */
export function* isHeldBy(view: LeaseView, spaceKey: number, names: readonly (string | undefined)[]): Read<boolean> {
  return (yield* leasesOf(view, spaceKey)).some(
    ({ targetId, virtualPath }) => names.includes(targetId) || names.includes(virtualPath),
  )
}

/**
 * Since when spaces are being read, as JSON pairs of the key of a space and a time; a key of 0 is of every space.
 *
 * @param now by which rows are marked as deleted
 */
export function* readersSince({ leases, instance, isShared }: LeaseView, now: number): Read<string> {
  const own = leases.readers()
  // whoever joins reads what is there from then on, and nothing that was deleted before
  if (!isShared || !(yield* othersThan(instance))) return JSON.stringify(own)
  const others = yield* sql.all<{ space_key: number; since: number }>(
    "SELECT space_key, min(acquired_at) since FROM held_leases WHERE type = 'read' AND gateway <> ? GROUP BY space_key",
    [instance],
  )
  const told = others.map(({ space_key, since }) => [space_key, since - SKEW_MS])
  return JSON.stringify([...own, ...told, [ANY_SPACE, now - UNTOLD_MS]])
}

function toLease(row: HeldRow): KnownLease {
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
    expiresAt: row.heartbeat_at + EXPIRES_AFTER_MS,
  }
}
