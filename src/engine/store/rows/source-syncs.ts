import { type Read, sql, type Write } from '../program.js'
import { OF_LOST_GATEWAYS } from './gateways.js'
import type { SourceRow } from './sources.js'

/** The moves of a source's sync: each is one conditional update and increases the version. */

/**
 * After a crash a source with a schedule is retried after this time, and not at once: its sync may have caused the
 * crash.
 */
const CRASH_RETRY_DELAY_MS = 60_000

type SourceRowKey = Pick<SourceRow, 'tenant' | 'id'>

/** A gateway's claim on the sync of a source. */
export interface SyncClaim {
  gateway: string
  fence: number
}

export type DueSource = SourceRow & { space_id: string }

/**
 * active | error → syncing, by a gateway. @param nextAt when the sync is due next @returns undefined if it was in
 * another status
 */
export function* claimSync(
  { tenant, id }: SourceRowKey,
  gateway: string,
  nextAt: number | null,
  now: number,
): Write<SyncClaim | undefined> {
  const [claimed] = yield* sql.returning<{ fence: number }>(
    `UPDATE sources SET status = 'syncing', claimed_by = ?, fence = fence + 1, sync_started_at = ?, next_sync_at = ?,
       version = version + 1, updated_at = ?
     WHERE tenant = ? AND id = ? AND status IN ('active', 'error') AND sync_started_at IS NULL AND deleted_at IS NULL
     RETURNING fence`,
    [gateway, now, nextAt, now, tenant, id],
  )
  return claimed === undefined ? undefined : { gateway, fence: claimed.fence }
}

/**
 * syncing → active | error, by the holder of the claim; a source that was disabled meanwhile stays disabled.
 *
 * @param outcome `summary`: JSON. `retryAt`: a source with a schedule is due at this time, if not earlier
 */
export function* endSync(
  { tenant, id }: SourceRowKey,
  { gateway, fence }: SyncClaim,
  outcome: { summary?: string; error?: string; retryAt?: number },
  now: number,
): Write<void> {
  yield* sql.run(
    `UPDATE sources SET status = CASE status WHEN 'syncing' THEN ? ELSE status END, sync_started_at = NULL,
       claimed_by = NULL, last_sync_at = ?, last_sync_error = ?, sync_summary = coalesce(?, sync_summary),
       next_sync_at = CASE WHEN next_sync_at IS NULL THEN NULL ELSE min(next_sync_at, coalesce(?, next_sync_at)) END,
       version = version + 1, updated_at = ?
     WHERE tenant = ? AND id = ? AND deleted_at IS NULL AND sync_started_at IS NOT NULL AND claimed_by = ? AND fence = ?`,
    [
      outcome.error === undefined ? 'active' : 'error',
      now,
      outcome.error ?? null,
      outcome.summary ?? null,
      outcome.retryAt ?? null,
      now,
      tenant,
      id,
      gateway,
      fence,
    ],
  )
}

/** Marks syncs of lost gateways as failed, to be retried. @returns their number */
export function* failOrphanedSyncs(now: number): Write<number> {
  return (yield* sql.run(
    `UPDATE sources SET status = CASE status WHEN 'syncing' THEN 'error' ELSE status END, sync_started_at = NULL,
       claimed_by = NULL, last_sync_at = ?, last_sync_error = 'the daemon ended during the sync',
       next_sync_at = CASE WHEN next_sync_at IS NULL THEN NULL ELSE CAST(? AS INTEGER) END, version = version + 1, updated_at = ?
     WHERE deleted_at IS NULL AND sync_started_at IS NOT NULL AND ${OF_LOST_GATEWAYS}`,
    [now, now + CRASH_RETRY_DELAY_MS, now],
  )).changes
}

/** Sources whose sync is due, without those that are disabled or syncing. */
export function* listDueSources(now: number): Read<DueSource[]> {
  return yield* sql.all<DueSource>(
    `SELECT sources.*, spaces.id space_id FROM sources JOIN spaces ON spaces.key = space_key
     WHERE next_sync_at <= ? AND sources.deleted_at IS NULL AND spaces.deleted_at IS NULL
       AND sources.status IN ('active', 'error') ORDER BY next_sync_at LIMIT 100`,
    [now],
  )
}

/** Sources that are due after a time. */
export function* listSourcesDueAfter(time: number): Read<SourceRow[]> {
  return yield* sql.all<SourceRow>('SELECT * FROM sources WHERE next_sync_at > ? AND deleted_at IS NULL', [time])
}

export function* setNextSync({ tenant, id }: SourceRowKey, nextAt: number, now: number): Write<void> {
  yield* sql.run(
    'UPDATE sources SET next_sync_at = ?, version = version + 1, updated_at = ? WHERE tenant = ? AND id = ?',
    [nextAt, now, tenant, id],
  )
}

/** Whether any source of this data directory has a scheduled sync. */
export function* hasScheduledSync(): Read<boolean> {
  return yield* sql.exists(`SELECT 1 one FROM sources JOIN spaces ON spaces.key = space_key WHERE next_sync_at IS NOT NULL
       AND sources.deleted_at IS NULL AND sources.status <> 'disabled' AND spaces.deleted_at IS NULL LIMIT 1`)
}
