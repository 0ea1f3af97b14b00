import type { KnowledgeSpaceStats, KnowledgeSpaceStatus } from '../../../contract/gateway/space-status.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Caller } from '../../base/caller.js'
import {
  type EngineContext,
  getRetentionRules,
  NODE_SCHEMA_VERSION,
  PARSER_POLICY_VERSION,
  PROJECTION_SET_VERSION,
  parsePolicies,
  sessionExpiry,
} from '../../library/index.js'
import { findUnstoredSessions } from '../../retrieval/index.js'
import { ObjectStore } from '../../store/objects.js'
import type { Read } from '../../store/program.js'
import { mapReadable } from '../../store/readable.js'
import { countSessions } from '../../store/rows/sessions.js'
import { getSpaceUsage } from '../../store/rows/space-usage.js'
import { findSpace, type SpaceRow } from '../../store/rows/spaces.js'
import { getWorkspaceUsage } from '../../store/rows/workspaces.js'
import { listVisibleLeases } from '../integrity/lease-list.js'
import {
  countFailedCommits,
  type FailedCommitRow,
  listFailedCommits,
  listLiveSessions,
  type StatusSessionRow,
} from '../rows/space-status.js'
import { getDescribedPictures } from './described-pictures.js'
import { getMissingVectors } from './missing-vectors.js'
import { getProjectionSummaries } from './projections.js'

const MAX_SAMPLE_ROWS = 100 // maximum number of leases, sessions and commits in a status

/** The current status of a space. */
export async function getSpaceStatus(
  context: EngineContext,
  caller: Caller,
  id: string,
): Promise<KnowledgeSpaceStatus> {
  const { db } = context
  const now = context.now()
  const { space, leases, sessions, commits, missing } = await db.read(loadStatusRows(context, caller, id, now))
  const policies = parsePolicies(space)
  const summaries = await getProjectionSummaries(context, space)
  const degraded = await getDegradedIndexes(context, space.id)
  return {
    knowledgeSpaceId: space.id,
    tenantId: space.tenant,
    generatedAt: new Date(now).toISOString(),
    activeLeases: toSample(
      leases.length,
      leases.slice(0, MAX_SAMPLE_ROWS).map((lease) => ({
        id: lease.id,
        leaseType: lease.type,
        targetType: lease.targetType,
        virtualPath: lease.virtualPath,
        expiresAt: new Date(lease.expiresAt).toISOString(),
      })),
    ),
    activeSessions: toSample(
      sessions.count,
      mapReadable(sessions.rows, (row) => toSession(row, policies.consistencyPolicy.defaultClass)),
    ),
    failedCommits: toSample(
      [...commits.counts.values()].reduce((sum, n) => sum + n, 0),
      mapReadable(commits.rows, toFailedCommit),
    ),
    index: {
      nodeSchemaVersion: NODE_SCHEMA_VERSION,
      projectionVersion: space.head_revision,
      projectionSetVersion: PROJECTION_SET_VERSION,
      summaries,
      // only if an index is incomplete: it may lack entries that the row counts include
      ...(degraded.length === 0 ? {} : { degraded }),
      ...missing,
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
      healthy: !db.broken && context.options.diskReserve?.getState().isFull !== true,
      provider: policies.storageProvider,
      objectStorageKind: 'filesystem',
    },
  }
}

function* loadStatusRows(context: EngineContext, caller: Caller, id: string, now: number) {
  const space = yield* findSpace(caller.tenant, id)
  const { key } = space
  return {
    space,
    leases: yield* listVisibleLeases(context, caller, key),
    sessions: {
      count: yield* countAllSessions(context, space, now),
      rows: yield* listSessionRows(context, space, now),
    },
    commits: {
      counts: yield* countFailedCommits(caller, key, 0),
      rows: yield* listFailedCommits(caller, key, MAX_SAMPLE_ROWS),
    },
    missing: {
      ...(yield* getMissingVectors(space, caller, MAX_SAMPLE_ROWS)),
      ...(yield* getDescribedPictures(context, space)),
    },
  }
}

async function getDegradedIndexes({ indexes, log }: EngineContext, spaceId: string): Promise<string[]> {
  try {
    return await indexes.degradedReasons(spaceId)
  } catch (error) {
    log.warn({ space: spaceId, error: String(error) }, 'the state of the indexes of a space could not be read')
    return ['the search indexes do not respond']
  }
}

/** Counts of a space; those of commits over the last `windowMinutes`. */
export async function getSpaceStats(
  context: EngineContext,
  caller: Caller,
  id: string,
  { windowMinutes }: { windowMinutes: number },
): Promise<KnowledgeSpaceStats> {
  const end = context.now()
  const start = end - windowMinutes * 60_000
  const { space, held, commits, sessions, leases, workspaces } = await context.db.read(
    loadStatsRows(context, caller, id, { start, end }),
  )
  const failedRetryable = commits.get('failed-retryable') ?? 0
  const failedTerminal = commits.get('failed-terminal') ?? 0
  const degraded = await getDegradedIndexes(context, space.id)
  return {
    knowledgeSpaceId: space.id,
    tenantId: space.tenant,
    generatedAt: new Date(end).toISOString(),
    window: { start: new Date(start).toISOString(), end: new Date(end).toISOString(), minutes: windowMinutes },
    storage: {
      documentCount: held.documents,
      rawDocumentBytes: held.rawBytes,
      // only if agents have written files: the document counts do not include them
      ...(workspaces.workspaceFileCount + workspaces.workspaceBytes === 0 ? {} : workspaces),
    },
    projections: {
      ...(await getProjectionSummaries(context, space)),
      projectionVersion: space.head_revision,
      ...(degraded.length === 0 ? {} : { degraded }),
    },
    // all of them are counted: the sample is complete
    commits: { failedRetryable, failedTerminal, sampled: failedRetryable + failedTerminal, truncated: false },
    // one cache in memory serves all spaces: the size per space is unknown
    cache: { available: false, entries: 0, totalBytes: 0 },
    metrics: { available: false, reason: 'no metrics are recorded per space' },
    runtime: {
      activeLeaseSampleCount: Math.min(leases, MAX_SAMPLE_ROWS),
      activeSessionSampleCount: Math.min(sessions, MAX_SAMPLE_ROWS),
      truncated: leases > MAX_SAMPLE_ROWS || sessions > MAX_SAMPLE_ROWS,
    },
  }
}

function* loadStatsRows(
  context: EngineContext,
  caller: Caller,
  id: string,
  { start, end }: { start: number; end: number },
) {
  const space = yield* findSpace(caller.tenant, id)
  const { key } = space
  return {
    space,
    held: yield* getSpaceUsage(key),
    commits: yield* countFailedCommits(caller, key, start),
    sessions: yield* countAllSessions(context, space, end),
    leases: (yield* listVisibleLeases(context, caller, key)).length,
    workspaces: yield* getWorkspaceUsage(key),
  }
}

function* countAllSessions(context: EngineContext, space: SpaceRow, now: number): Read<number> {
  return (yield* countSessions(space.key, now)) + (yield* findUnstoredSessions(context, space)).length
}

function* listSessionRows(context: EngineContext, space: SpaceRow, now: number): Read<StatusSessionRow[]> {
  const stored = yield* listLiveSessions(space.key, now, MAX_SAMPLE_ROWS)
  const policy = yield* getRetentionRules(space.key)
  const unstored = yield* findUnstoredSessions(context, space)
  const running = unstored.map(({ sessionId, subject = '', heartbeatAt }): StatusSessionRow => {
    const times = { heartbeat_at: heartbeatAt, expires_at: sessionExpiry(policy, heartbeatAt) }
    return { id: sessionId, subject, client_kind: 'api', ...times }
  })
  return [...stored, ...running].slice(0, MAX_SAMPLE_ROWS)
}

function toSession(
  row: StatusSessionRow,
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

function toFailedCommit(row: FailedCommitRow): KnowledgeSpaceStatus['failedCommits']['items'][number] {
  return {
    id: row.id,
    status: row.status,
    ...omitUndefined({ errorCode: row.error_code ?? undefined }),
    ...(row.expires_at === null ? {} : { expiresAt: new Date(row.expires_at).toISOString() }),
    updatedAt: new Date(row.updated_at).toISOString(),
  }
}

function toSample<T>(count: number, items: T[]): { count: number; truncated: boolean; items: T[] } {
  return { count, truncated: count > items.length, items }
}
