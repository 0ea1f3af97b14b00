import type { KnowledgeSpaceStats, KnowledgeSpaceStatus } from '../../contract/gateway/space-status.js'
import { defined } from '../../lib/defined.js'
import type { Caller } from '../base/caller.js'
import type { EngineContext } from '../context.js'
import { knownLeases } from '../integrity/lease-list.js'
import { unstoredSessions } from '../query/sessions.js'
import { askerOf, mayKnow } from '../rows/permissions.js'
import { findSpace } from '../rows/spaces.js'
import { workspaceUsage } from '../rows/workspaces.js'
import { NODE_SCHEMA_VERSION, PARSER_POLICY_VERSION, PROJECTION_SET_VERSION, policiesOf } from '../spaces/manifest.js'
import { usageOf } from '../spaces/quota.js'
import { retentionOf, sessionExpiry } from '../spaces/retention-policy.js'
import { ObjectStore } from '../storage/objects.js'
import { type Read, sql } from '../storage/program.js'
import { readable } from '../storage/readable.js'
import { missingVectors } from './missing-vectors.js'
import { projectionSummaries } from './projections.js'

const SAMPLE = 100 // rows of leases, sessions and commits that a status shows

/** A live picture of a space. */
export async function spaceStatus(context: EngineContext, caller: Caller, id: string): Promise<KnowledgeSpaceStatus> {
  const { db } = context
  const space = db.now(findSpace(caller.tenant, id))
  const policies = policiesOf(space)
  const now = context.now()
  const leases = context.db.now(knownLeases(context, caller, space.key))
  const summaries = await projectionSummaries(context, space)
  const degraded = await degradedIndexes(context, space.id)
  return {
    knowledgeSpaceId: space.id,
    tenantId: space.tenant,
    generatedAt: new Date(now).toISOString(),
    activeLeases: sample(
      leases.length,
      leases.slice(0, SAMPLE).map((lease) => ({
        id: lease.id,
        leaseType: lease.type,
        targetType: lease.targetType,
        virtualPath: lease.virtualPath,
        expiresAt: new Date(lease.expiresAt).toISOString(),
      })),
    ),
    activeSessions: sample(
      context.db.now(sessionCount(context, space.key, now)),
      readable(context.db.now(sessionRows(context, space.key, now)), (row) =>
        toSession(row, policies.consistencyPolicy.defaultClass),
      ),
    ),
    failedCommits: sample(
      [...db.now(failedCommitCounts(caller, space.key, 0)).values()].reduce((sum, n) => sum + n, 0),
      readable(db.now(failedCommitRows(caller, space.key)), toFailedCommit),
    ),
    index: {
      nodeSchemaVersion: NODE_SCHEMA_VERSION,
      projectionVersion: space.head_revision,
      projectionSetVersion: PROJECTION_SET_VERSION,
      summaries,
      // only where an index is not whole: it may lack what the counts of rows promise
      ...(degraded.length === 0 ? {} : { degraded }),
      ...db.now(missingVectors(space, caller, SAMPLE)),
    },
    manifest: {
      manifestVersion: space.manifest_version,
      metadataDialect: policies.metadataDialect,
      storageProvider: policies.storageProvider,
      objectKeyPrefix: ObjectStore.prefix(space.tenant),
      consistencyClass: policies.consistencyPolicy.defaultClass,
    },
    parser: { kind: 'native', policyVersion: PARSER_POLICY_VERSION },
    storage: {
      healthy: !db.broken && context.options.room?.state().isFull !== true,
      provider: policies.storageProvider,
      objectStorageKind: 'filesystem',
    },
  }
}

async function degradedIndexes({ indexes, log }: EngineContext, spaceId: string): Promise<string[]> {
  try {
    return await indexes.degraded(spaceId)
  } catch (error) {
    log.warn({ space: spaceId, error: String(error) }, 'the indexes of a space could not be asked how they are')
    return ['the search indexes cannot be asked now']
  }
}

/** Counts of a space; those of commits over the last `windowMinutes`. */
export async function spaceStats(
  context: EngineContext,
  caller: Caller,
  id: string,
  windowMinutes: number,
): Promise<KnowledgeSpaceStats> {
  const { db } = context
  const space = db.now(findSpace(caller.tenant, id))
  const end = context.now()
  const start = end - windowMinutes * 60_000
  const held = db.now(usageOf(space.key))
  const commits = db.now(failedCommitCounts(caller, space.key, start))
  const failedRetryable = commits.get('failed-retryable') ?? 0
  const failedTerminal = commits.get('failed-terminal') ?? 0
  const sessions = context.db.now(sessionCount(context, space.key, end))
  const leases = context.db.now(knownLeases(context, caller, space.key)).length
  const workspaces = db.now(workspaceUsage(space.key))
  const degraded = await degradedIndexes(context, space.id)
  return {
    knowledgeSpaceId: space.id,
    tenantId: space.tenant,
    generatedAt: new Date(end).toISOString(),
    window: { start: new Date(start).toISOString(), end: new Date(end).toISOString(), minutes: windowMinutes },
    storage: {
      documentCount: held.documents,
      rawDocumentBytes: held.rawBytes,
      // only where agents have written something: the documents know nothing of it
      ...(workspaces.workspaceFileCount + workspaces.workspaceBytes === 0 ? {} : workspaces),
    },
    projections: {
      ...(await projectionSummaries(context, space)),
      projectionVersion: space.head_revision,
      ...(degraded.length === 0 ? {} : { degraded }),
    },
    // all of them are counted: nothing is left out of the sample
    commits: { failedRetryable, failedTerminal, sampled: failedRetryable + failedTerminal, truncated: false },
    // one cache in memory serves all spaces: what of it belongs to one is not known
    cache: { available: false, entries: 0, totalBytes: 0 },
    metrics: { available: false, reason: 'no measurements are kept for each space' },
    runtime: {
      activeLeaseSampleCount: Math.min(leases, SAMPLE),
      activeSessionSampleCount: Math.min(sessions, SAMPLE),
      truncated: leases > SAMPLE || sessions > SAMPLE,
    },
  }
}

interface SessionRow {
  id: string
  subject: string
  client_kind: 'api' | 'mcp' | 'worker' | 'admin'
  heartbeat_at: number
  expires_at: number
}

function* sessionCount(context: EngineContext, spaceKey: number, now: number): Read<number> {
  const text = 'SELECT count(*) n FROM sessions WHERE space_key = ? AND expires_at > ?'
  const stored = (yield* sql.get<{ n: number }>(text, [spaceKey, now]))?.n ?? 0
  return stored + (yield* unstoredSessions(context, spaceKey)).length
}

function* sessionRows(context: EngineContext, spaceKey: number, now: number): Read<SessionRow[]> {
  const stored = yield* sql.all<SessionRow>(
    'SELECT * FROM sessions WHERE space_key = ? AND expires_at > ? ORDER BY id LIMIT ?',
    [spaceKey, now, SAMPLE],
  )
  const policy = yield* retentionOf(spaceKey)
  const unstored = yield* unstoredSessions(context, spaceKey)
  const running = unstored.map(({ sessionId, subject = '', heartbeatAt }): SessionRow => {
    const times = { heartbeat_at: heartbeatAt, expires_at: sessionExpiry(policy, heartbeatAt) }
    return { id: sessionId, subject, client_kind: 'api', ...times }
  })
  return [...stored, ...running].slice(0, SAMPLE)
}

function toSession(
  row: SessionRow,
  consistencyClass: KnowledgeSpaceStatus['manifest']['consistencyClass'],
): KnowledgeSpaceStatus['activeSessions']['items'][number] {
  return {
    id: row.id,
    subjectId: row.subject,
    clientKind: row.client_kind,
    consistencyClass,
    heartbeatAt: new Date(row.heartbeat_at).toISOString(),
    expiresAt: new Date(row.expires_at).toISOString(),
  }
}

interface FailedCommitRow {
  id: string
  status: 'failed-retryable' | 'failed-terminal'
  error_code: string | null
  expires_at: number | null
  updated_at: number
}

/** Failed commits by status, of those that changed since. */
function* failedCommitCounts(caller: Caller, spaceKey: number, since: number): Read<Map<string, number>> {
  const rows = yield* sql.all<{ status: string; n: number }>(
    `SELECT status, count(*) n FROM staged_commits WHERE space_key = ? AND status IN ('failed-retryable', 'failed-terminal')
       AND updated_at >= ? AND ${mayKnow('staged_commits.source_id')} GROUP BY status`,
    [spaceKey, since, askerOf(caller)],
  )
  return new Map(rows.map(({ status, n }) => [status, n]))
}

function* failedCommitRows(caller: Caller, spaceKey: number): Read<FailedCommitRow[]> {
  return yield* sql.all<FailedCommitRow>(
    `SELECT id, status, error_code, expires_at, updated_at FROM staged_commits WHERE space_key = ?
       AND status IN ('failed-retryable', 'failed-terminal') AND ${mayKnow('staged_commits.source_id')} ORDER BY id LIMIT ?`,
    [spaceKey, askerOf(caller), SAMPLE],
  )
}

function toFailedCommit(row: FailedCommitRow): KnowledgeSpaceStatus['failedCommits']['items'][number] {
  return {
    id: row.id,
    status: row.status,
    ...defined({ errorCode: row.error_code ?? undefined }),
    ...(row.expires_at === null ? {} : { expiresAt: new Date(row.expires_at).toISOString() }),
    updatedAt: new Date(row.updated_at).toISOString(),
  }
}

function sample<T>(count: number, items: T[]): { count: number; truncated: boolean; items: T[] } {
  return { count, truncated: count > items.length, items }
}
