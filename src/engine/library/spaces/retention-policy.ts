import type { RetentionPolicy, RetentionPolicyBody } from '../../../contract/gateway/retention.js'
import { newId } from '../../../lib/ids.js'
import type { Caller } from '../../base/caller.js'
import { bind } from '../../store/bind-operation.js'
import type { Read, Write } from '../../store/program.js'
import { findSpace } from '../../store/rows/spaces.js'
import { writeReply } from '../../store/write-reply.js'
import type { EngineContext } from '../context.js'
import {
  findPolicyRow,
  insertPolicy,
  type RetentionPolicyOwner,
  type RetentionPolicyRow,
  updatePolicy,
  updateSessionExpiry,
} from '../rows/retention-policies.js'

/** The rules of a policy, without its owner. */
export type RetentionRules = Omit<
  RetentionPolicy,
  'id' | 'tenantId' | 'knowledgeSpaceId' | 'scope' | 'createdAt' | 'updatedAt'
>

/** Rules of a tenant or space without its own policy. */
export const DEFAULT_RETENTION: RetentionRules = {
  answerTraceRetentionDays: 90,
  evidenceCacheRetentionDays: 7,
  inactiveProjectionRetentionDays: 30,
  parseArtifactVersions: 3,
  rawDocumentRetentionDays: null,
  sessionInactivityMinutes: 30,
}

const MINUTE_MS = 60_000
/**
 * 9999-12-31T23:59:59.999Z, the last instant of a four-digit year: policies have no upper bound, dates of the API do
 */
const MAX_TIMESTAMP = 253_402_300_799_999

/** The effective rules of a space. A tenant's own rules do not apply to its spaces. */
export function* getRetentionRules(spaceKey: number): Read<RetentionRules> {
  const row = yield* findPolicyRow({ spaceKey })
  return row === undefined ? DEFAULT_RETENTION : toRules(row)
}

/** Expiry of a session of a space that was last used at `heartbeat`; milliseconds since the epoch. */
export function sessionExpiry(rules: RetentionRules, heartbeat: number): number {
  return Math.min(heartbeat + rules.sessionInactivityMinutes * MINUTE_MS, MAX_TIMESTAMP)
}

/** The policies of a tenant and of its spaces. @throws KsError `not-found` for a missing space */
export function createRetentionPolicies(context: EngineContext) {
  return {
    ofTenant: bind((caller: Caller) => readPolicy(context, caller)),
    setTenant: bind((caller: Caller, body: RetentionPolicyBody) => changePolicy(context, caller, body)),
    ofSpace: bind((caller: Caller, id: string) => readPolicy(context, caller, id)),
    /** Deletes nothing: the background clean-up reads the new rules at its next run. */
    setSpace: bind((caller: Caller, id: string, body: RetentionPolicyBody) => changePolicy(context, caller, body, id)),
  }
}

interface RetentionPolicyTarget {
  owner: RetentionPolicyOwner
  spaceId: string | null
  tenant: string
}

/** @param id of a space, absent for the tenant's own policy */
function* findPolicyTarget({ tenant }: Caller, id: string | undefined): Read<RetentionPolicyTarget> {
  if (id === undefined) return { owner: { tenant }, spaceId: null, tenant }
  const space = yield* findSpace(tenant, id)
  return { owner: { spaceKey: space.key }, spaceId: space.id, tenant: space.tenant }
}

/** The first read stores the defaults, so that id and times are the same at the next one. */
async function readPolicy({ db, now }: EngineContext, caller: Caller, id?: string): Promise<RetentionPolicy> {
  return (await db.read(findStoredPolicy(caller, id))) ?? (await db.write(() => ensureStoredPolicy(caller, id, now())))
}

function* findStoredPolicy(caller: Caller, id: string | undefined): Read<RetentionPolicy | undefined> {
  const target = yield* findPolicyTarget(caller, id)
  const row = yield* findPolicyRow(target.owner)
  return row === undefined ? undefined : toPolicy(row, target)
}

function* ensureStoredPolicy(caller: Caller, id: string | undefined, now: number): Write<RetentionPolicy> {
  const target = yield* findPolicyTarget(caller, id)
  return toPolicy(yield* ensurePolicyRow(target, now), target)
}

async function changePolicy(
  context: EngineContext,
  caller: Caller,
  body: RetentionPolicyBody,
  id?: string,
): Promise<RetentionPolicy> {
  const { db, now } = context
  const write = function* (): Write<RetentionPolicy> {
    const target = yield* findPolicyTarget(caller, id)
    const row = yield* ensurePolicyRow(target, now())
    if (Object.keys(body).length === 0) return toPolicy(row, target)
    const rules = applyChanges(toRules(row), body)
    const updated = yield* updatePolicy(target.tenant, row.id, toColumns(rules), now())
    if ('spaceKey' in target.owner && body.sessionInactivityMinutes !== undefined)
      // existing sessions follow the new rule too, from their last use
      yield* updateSessionExpiry(
        target.owner.spaceKey,
        Math.min(rules.sessionInactivityMinutes * MINUTE_MS, MAX_TIMESTAMP),
        MAX_TIMESTAMP,
      )
    return toPolicy(updated, target)
  }
  return writeReply(db, caller, write, id === undefined ? {} : { lock: { tenant: caller.tenant, id } })
}

function applyChanges(rules: RetentionRules, body: RetentionPolicyBody): RetentionRules {
  const { rawDocumentRetentionDays } = body
  return {
    answerTraceRetentionDays: body.answerTraceRetentionDays ?? rules.answerTraceRetentionDays,
    evidenceCacheRetentionDays: body.evidenceCacheRetentionDays ?? rules.evidenceCacheRetentionDays,
    inactiveProjectionRetentionDays: body.inactiveProjectionRetentionDays ?? rules.inactiveProjectionRetentionDays,
    parseArtifactVersions: body.parseArtifactVersions ?? rules.parseArtifactVersions,
    // null is a value here: never
    rawDocumentRetentionDays:
      rawDocumentRetentionDays === undefined ? rules.rawDocumentRetentionDays : rawDocumentRetentionDays,
    sessionInactivityMinutes: body.sessionInactivityMinutes ?? rules.sessionInactivityMinutes,
  }
}

function* ensurePolicyRow({ owner, tenant }: RetentionPolicyTarget, now: number): Write<RetentionPolicyRow> {
  return (
    (yield* findPolicyRow(owner)) ??
    (yield* insertPolicy({ id: newId(), owner, tenant }, toColumns(DEFAULT_RETENTION), now))
  )
}

function toColumns(rules: RetentionRules) {
  return [
    rules.answerTraceRetentionDays,
    rules.evidenceCacheRetentionDays,
    rules.inactiveProjectionRetentionDays,
    rules.parseArtifactVersions,
    rules.rawDocumentRetentionDays,
    rules.sessionInactivityMinutes,
  ]
}

function toRules(row: RetentionPolicyRow): RetentionRules {
  return {
    answerTraceRetentionDays: row.answer_trace_days,
    evidenceCacheRetentionDays: row.evidence_cache_days,
    inactiveProjectionRetentionDays: row.inactive_projection_days,
    parseArtifactVersions: row.artifact_versions,
    rawDocumentRetentionDays: row.raw_document_days,
    sessionInactivityMinutes: row.session_minutes,
  }
}

function toPolicy(row: RetentionPolicyRow, { spaceId, tenant }: RetentionPolicyTarget): RetentionPolicy {
  return {
    id: row.id,
    tenantId: tenant,
    knowledgeSpaceId: spaceId,
    scope: spaceId === null ? 'tenant' : 'knowledge_space',
    ...toRules(row),
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
  }
}
