import { KsError } from '../../../contract/errors.js'
import type { Bindable } from '../../store/program.js'
import { type Read, sql, type Write } from '../../store/program.js'

/** A row of `retention_policies`. */
export interface RetentionPolicyRow {
  id: string
  answer_trace_days: number
  evidence_cache_days: number
  inactive_projection_days: number
  artifact_versions: number
  raw_document_days: number | null
  session_minutes: number
  created_at: number
  updated_at: number
}

/** The owner of a policy: a tenant, or one space. */
export type RetentionPolicyOwner = { tenant: string } | { spaceKey: number }

export function* findPolicyRow(owner: RetentionPolicyOwner): Read<RetentionPolicyRow | undefined> {
  return 'spaceKey' in owner
    ? yield* sql.get<RetentionPolicyRow>('SELECT * FROM retention_policies WHERE space_key = ?', [owner.spaceKey])
    : yield* sql.get<RetentionPolicyRow>('SELECT * FROM retention_policies WHERE tenant = ? AND space_key IS NULL', [
        owner.tenant,
      ])
}

/** @param rules in the order of the columns */
export function* insertPolicy(
  { id, owner, tenant }: { id: string; owner: RetentionPolicyOwner; tenant: string },
  rules: Bindable[],
  now: number,
): Write<RetentionPolicyRow> {
  yield* sql.run(
    `INSERT INTO retention_policies (id, tenant, space_key, answer_trace_days, evidence_cache_days,
       inactive_projection_days, artifact_versions, raw_document_days, session_minutes, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [id, tenant, 'spaceKey' in owner ? owner.spaceKey : null, ...rules, now, now],
  )
  return yield* getPolicyRow(tenant, id)
}

/** @param rules in the order of the columns */
export function* updatePolicy(tenant: string, id: string, rules: Bindable[], now: number): Write<RetentionPolicyRow> {
  yield* sql.run(
    `UPDATE retention_policies SET answer_trace_days = ?, evidence_cache_days = ?, inactive_projection_days = ?,
       artifact_versions = ?, raw_document_days = ?, session_minutes = ?, updated_at = ? WHERE tenant = ? AND id = ?`,
    [...rules, now, tenant, id],
  )
  return yield* getPolicyRow(tenant, id)
}

function* getPolicyRow(tenant: string, id: string): Read<RetentionPolicyRow> {
  const row = yield* sql.get<RetentionPolicyRow>('SELECT * FROM retention_policies WHERE tenant = ? AND id = ?', [
    tenant,
    id,
  ])
  if (row === undefined) throw new KsError('internal', 'a retention policy vanished while it was written')
  return row
}

/** Sets the expiry of a space's sessions to `milliseconds` after their last use, but no later than `end`. */
export function* updateSessionExpiry(spaceKey: number, milliseconds: number, end: number): Write<void> {
  yield* sql.run('UPDATE sessions SET expires_at = min(heartbeat_at + ?, ?) WHERE space_key = ?', [
    milliseconds,
    end,
    spaceKey,
  ])
}
