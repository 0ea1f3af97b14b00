import type { RetentionPolicy, RetentionPolicyBody } from '../../contract/gateway/retention.js'
import { newId } from '../../lib/ids.js'
import type { Caller } from '../base/caller.js'
import type { EngineContext } from '../context.js'
import {
  insertPolicy,
  moveSessions,
  type PolicyOwner,
  type PolicyRow,
  policyRow,
  updatePolicy,
} from '../rows/retention-policies.js'
import { findSpace } from '../rows/spaces.js'
import type { Read, Write } from '../storage/program.js'
import { writeAnswer } from '../storage/write-answer.js'

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

const MINUTE = 60_000
/**
 * 9999-12-31T23:59:59.999Z, the last instant of a four-digit year: policies have no upper bound, dates of the API do
 */
const END_OF_TIME = 253_402_300_799_999

/** The effective rules of a space. A tenant's own rules do not apply to its spaces. */
export function* retentionOf(spaceKey: number): Read<RetentionRules> {
  const row = yield* policyRow({ spaceKey })
  return row === undefined ? DEFAULT_RETENTION : rulesOf(row)
}

/** Expiry of a session of a space that was last used at `heartbeat`; milliseconds since the epoch. */
export function sessionExpiry(rules: RetentionRules, heartbeat: number): number {
  return Math.min(heartbeat + rules.sessionInactivityMinutes * MINUTE, END_OF_TIME)
}

/** The policies of a tenant and of its spaces. @throws KsError `not-found` for a missing space */
export function retentionPolicies(context: EngineContext) {
  return {
    ofTenant: (caller: Caller) => read(context, caller),
    setTenant: (caller: Caller, body: RetentionPolicyBody) => change(context, caller, body),
    ofSpace: (caller: Caller, id: string) => read(context, caller, id),
    /** Deletes nothing: the background clean-up reads the new rules at its next run. */
    setSpace: (caller: Caller, id: string, body: RetentionPolicyBody) => change(context, caller, body, id),
  }
}

interface Owner {
  owner: PolicyOwner
  spaceId: string | null
  tenant: string
}

/** @param id of a space, absent for the tenant's own policy */
function* ownerOf({ tenant }: Caller, id: string | undefined): Read<Owner> {
  if (id === undefined) return { owner: { tenant }, spaceId: null, tenant }
  const space = yield* findSpace(tenant, id)
  return { owner: { spaceKey: space.key }, spaceId: space.id, tenant: space.tenant }
}

/** The first read stores the defaults, so that id and times are the same at the next one. */
async function read({ db, now }: EngineContext, caller: Caller, id?: string): Promise<RetentionPolicy> {
  return (await db.read(stored(caller, id))) ?? (await db.write(() => storedOrFirst(caller, id, now())))
}

function* stored(caller: Caller, id: string | undefined): Read<RetentionPolicy | undefined> {
  const found = yield* ownerOf(caller, id)
  const row = yield* policyRow(found.owner)
  return row === undefined ? undefined : toPolicy(row, found)
}

function* storedOrFirst(caller: Caller, id: string | undefined, now: number): Write<RetentionPolicy> {
  const found = yield* ownerOf(caller, id)
  return toPolicy(yield* ensure(found, now), found)
}

async function change(
  context: EngineContext,
  caller: Caller,
  body: RetentionPolicyBody,
  id?: string,
): Promise<RetentionPolicy> {
  const { db, now } = context
  const write = function* (): Write<RetentionPolicy> {
    const found = yield* ownerOf(caller, id)
    const row = yield* ensure(found, now())
    if (Object.keys(body).length === 0) return toPolicy(row, found)
    const rules = changed(rulesOf(row), body)
    const written = yield* updatePolicy(found.tenant, row.id, columnsOf(rules), now())
    if ('spaceKey' in found.owner && body.sessionInactivityMinutes !== undefined)
      // existing sessions follow the new rule too, from their last use
      yield* moveSessions(
        found.owner.spaceKey,
        Math.min(rules.sessionInactivityMinutes * MINUTE, END_OF_TIME),
        END_OF_TIME,
      )
    return toPolicy(written, found)
  }
  return writeAnswer(db, caller, write, id === undefined ? {} : { lock: { tenant: caller.tenant, id } })
}

function changed(rules: RetentionRules, body: RetentionPolicyBody): RetentionRules {
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

function* ensure({ owner, tenant }: Owner, now: number): Write<PolicyRow> {
  return (
    (yield* policyRow(owner)) ??
    (yield* insertPolicy({ id: newId(), owner, tenant }, columnsOf(DEFAULT_RETENTION), now))
  )
}

function columnsOf(rules: RetentionRules) {
  return [
    rules.answerTraceRetentionDays,
    rules.evidenceCacheRetentionDays,
    rules.inactiveProjectionRetentionDays,
    rules.parseArtifactVersions,
    rules.rawDocumentRetentionDays,
    rules.sessionInactivityMinutes,
  ]
}

function rulesOf(row: PolicyRow): RetentionRules {
  return {
    answerTraceRetentionDays: row.answer_trace_days,
    evidenceCacheRetentionDays: row.evidence_cache_days,
    inactiveProjectionRetentionDays: row.inactive_projection_days,
    parseArtifactVersions: row.artifact_versions,
    rawDocumentRetentionDays: row.raw_document_days,
    sessionInactivityMinutes: row.session_minutes,
  }
}

function toPolicy(row: PolicyRow, { spaceId, tenant }: Owner): RetentionPolicy {
  return {
    id: row.id,
    tenantId: tenant,
    knowledgeSpaceId: spaceId,
    scope: spaceId === null ? 'tenant' : 'knowledge_space',
    ...rulesOf(row),
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
  }
}
