import type { SourceRow } from '../rows/sources.js'
import { type Read, sql, type Write } from '../storage/program.js'
import { fromCell } from '../storage/readable.js'
import { isSynced } from './connectors/registry.js'
import { nextRun, plannedAgain, readSyncPolicy } from './sync-policy.js'

/** The moves of a source's sync (decisions.md section 4): each is one conditional update and raises the version. */

/** After a crash a source with a schedule is tried again this soon, and not at once: it may be what crashed. */
const AFTER_CRASH_MS = 60_000

export interface SyncSummary {
  at: string
  trigger: 'request' | 'schedule'
  total: number
  completed: number
  failed: number
  imported: number
  replaced: number
  skipped: number
  /** some of the pages that failed */
  failures: { url: string; error: string }[]
}

/** What a crawl or an import did. */
export interface SyncCounts {
  imported: number
  replaced: number
  skipped: number
  failures: { url: string; error: string }[]
}

const FAILURES_KEPT = 20

export function summaryOf(counts: SyncCounts, trigger: SyncSummary['trigger'], now: number): SyncSummary {
  const { imported, replaced, skipped, failures } = counts
  const completed = imported + replaced + skipped
  return {
    at: new Date(now).toISOString(),
    trigger,
    total: completed + failures.length,
    completed,
    failed: failures.length,
    imported,
    replaced,
    skipped,
    failures: failures.slice(0, FAILURES_KEPT),
  }
}

/**
 * active | error → syncing.
 *
 * @param keepsPlan what is done is less than a whole sync, which is still due when it was
 * @returns whether it was one of the two
 */
export function* claimSync(source: SourceRow, now: number, keepsPlan = false): Write<boolean> {
  return (
    (yield* sql.run(
      `UPDATE sources SET status = 'syncing', sync_started_at = ?, next_sync_at = ?, version = version + 1, updated_at = ?
       WHERE tenant = ? AND id = ? AND status IN ('active', 'error') AND deleted_at IS NULL`,
      [now, keepsPlan ? source.next_sync_at : plannedAfter(source, now), now, source.tenant, source.id],
    )).changes === 1
  )
}

/**
 * syncing → active | error; a source that was switched off meanwhile stays so.
 *
 * @param outcome `againAt`: one with a schedule is due then, if not before
 */
export function* endSync(
  source: Pick<SourceRow, 'tenant' | 'id'>,
  outcome: { summary?: SyncSummary; error?: string; againAt?: number },
  now: number,
): Write<void> {
  yield* sql.run(
    `UPDATE sources SET status = CASE status WHEN 'syncing' THEN ? ELSE status END, sync_started_at = NULL,
       last_sync_at = ?, last_sync_error = ?, sync_summary = coalesce(?, sync_summary),
       next_sync_at = CASE WHEN next_sync_at IS NULL THEN NULL ELSE min(next_sync_at, coalesce(?, next_sync_at)) END,
       version = version + 1, updated_at = ?
     WHERE tenant = ? AND id = ? AND deleted_at IS NULL AND sync_started_at IS NOT NULL`,
    [
      outcome.error === undefined ? 'active' : 'error',
      now,
      outcome.error ?? null,
      outcome.summary === undefined ? null : JSON.stringify(outcome.summary),
      outcome.againAt ?? null,
      now,
      source.tenant,
      source.id,
    ],
  )
}

/** After a start nobody syncs: what a crash left is an error, to be tried again. @returns how many there were */
export function* recoverSyncs(now: number): Write<number> {
  return (yield* sql.run(
    `UPDATE sources SET status = CASE status WHEN 'syncing' THEN 'error' ELSE status END, sync_started_at = NULL,
       last_sync_at = ?, last_sync_error = 'the daemon ended during the sync',
       next_sync_at = CASE WHEN next_sync_at IS NULL THEN NULL ELSE ? END, version = version + 1, updated_at = ?
     WHERE deleted_at IS NULL AND (status = 'syncing' OR sync_started_at IS NOT NULL)`,
    [now, now + AFTER_CRASH_MS, now],
  )).changes
}

/** Sources whose time has come. Those that are switched off, or synced just now, are never among them. */
export function* dueSources(now: number): Read<(SourceRow & { space_id: string })[]> {
  return yield* sql.all<SourceRow & { space_id: string }>(
    `SELECT sources.*, spaces.id space_id FROM sources JOIN spaces ON spaces.key = space_key
     WHERE next_sync_at <= ? AND sources.deleted_at IS NULL AND spaces.deleted_at IS NULL
       AND sources.status IN ('active', 'error') ORDER BY next_sync_at LIMIT 100`,
    [now],
  )
}

/** Puts right what a clock that was put back left too far in the future. */
export function* replanAll(now: number): Write<void> {
  const planned = yield* sql.all<SourceRow>('SELECT * FROM sources WHERE next_sync_at > ? AND deleted_at IS NULL', [
    now,
  ])
  for (const source of planned) {
    const policy = policyOf(source)
    if (policy === undefined || source.next_sync_at === null) continue
    const next = plannedAgain(policy, source.next_sync_at, now)
    if (next === source.next_sync_at) continue
    yield* sql.run(
      'UPDATE sources SET next_sync_at = ?, version = version + 1, updated_at = ? WHERE tenant = ? AND id = ?',
      [next, now, source.tenant, source.id],
    )
  }
}

/** Whether any source of this data directory is to be synced some time. */
export function* hasSchedule(): Read<boolean> {
  return (
    (yield* sql.get(
      `SELECT 1 one FROM sources JOIN spaces ON spaces.key = space_key WHERE next_sync_at IS NOT NULL
       AND sources.deleted_at IS NULL AND sources.status <> 'disabled' AND spaces.deleted_at IS NULL LIMIT 1`,
    )) !== undefined
  )
}

function plannedAfter(source: SourceRow, now: number): number | null {
  const policy = policyOf(source)
  return policy === undefined ? null : nextRun(policy, now)
}

function policyOf(source: SourceRow) {
  const metadata: Record<string, unknown> = fromCell(source.metadata)
  return isSynced(source.type, metadata) ? readSyncPolicy(metadata) : undefined
}
