import type { KnowledgeSpaceStats, KnowledgeSpaceStatus, ProjectionSummary } from '../../contract/gateway/spaces.js'
import type { Caller } from '../api.js'
import type { EngineContext } from '../context.js'
import type { Database } from '../storage/database.js'
import { ObjectStore } from '../storage/objects.js'
import { NODE_SCHEMA_VERSION, PARSER_POLICY_VERSION, PROJECTION_SET_VERSION, policiesOf } from './manifest.js'
import { findSpace, type SpaceRow } from './store.js'

const SAMPLE = 100 // rows of leases, sessions and commits that a status shows

/** A live picture of a space. */
export function spaceStatus(context: EngineContext, caller: Caller, id: string): KnowledgeSpaceStatus {
  const { db } = context
  const space = findSpace(db, caller.tenant, id)
  const policies = policiesOf(space)
  const now = Date.now()
  return {
    knowledgeSpaceId: space.id,
    tenantId: space.tenant,
    generatedAt: new Date(now).toISOString(),
    activeLeases: sample(
      context.leases.of(space.key).map((lease) => ({
        id: lease.id,
        leaseType: lease.type,
        targetType: lease.targetType,
        virtualPath: lease.virtualPath,
        expiresAt: new Date(lease.expiresAt).toISOString(),
      })),
    ),
    activeSessions: sample(
      sessionRows(db, space.key, now).map((row) => toSession(row, policies.consistencyPolicy.defaultClass)),
    ),
    failedCommits: sample(failedCommitRows(db, space.key).map(toFailedCommit)),
    index: {
      nodeSchemaVersion: NODE_SCHEMA_VERSION,
      projectionVersion: space.head_revision,
      projectionSetVersion: PROJECTION_SET_VERSION,
      summaries: projectionSummaries(db, space),
    },
    manifest: {
      manifestVersion: space.manifest_version,
      metadataDialect: policies.metadataDialect,
      storageProvider: policies.storageProvider,
      objectKeyPrefix: ObjectStore.prefix(space.tenant),
      consistencyClass: policies.consistencyPolicy.defaultClass,
    },
    parser: { kind: 'native', policyVersion: PARSER_POLICY_VERSION },
    storage: { healthy: true, provider: policies.storageProvider, objectStorageKind: 'filesystem' },
  }
}

/** Counts of a space over the last `windowMinutes`. */
export function spaceStats(
  context: EngineContext,
  caller: Caller,
  id: string,
  windowMinutes: number,
): KnowledgeSpaceStats {
  const { db } = context
  const space = findSpace(db, caller.tenant, id)
  const end = Date.now()
  const start = end - windowMinutes * 60_000
  const storage = db.get<{ n: number; bytes: number | null }>(
    'SELECT count(*) n, sum(size_bytes) bytes FROM documents WHERE space_key = ? AND deleted_at IS NULL',
    space.key,
  )
  const commits = db.all<{ status: string; n: number }>(
    "SELECT status, count(*) n FROM staged_commits WHERE space_key = ? AND status IN ('failed-retryable', 'failed-terminal') AND updated_at >= ? GROUP BY status",
    space.key,
    start,
  )
  const failed = (status: string) => commits.find((row) => row.status === status)?.n ?? 0
  const sessions = sessionRows(db, space.key, end).length
  const leases = context.leases.of(space.key).length
  return {
    knowledgeSpaceId: space.id,
    tenantId: space.tenant,
    generatedAt: new Date(end).toISOString(),
    window: { start: new Date(start).toISOString(), end: new Date(end).toISOString(), minutes: windowMinutes },
    storage: { documentCount: storage?.n ?? 0, rawDocumentBytes: storage?.bytes ?? 0 },
    projections: { ...projectionSummaries(db, space), projectionVersion: space.head_revision },
    commits: {
      failedRetryable: failed('failed-retryable'),
      failedTerminal: failed('failed-terminal'),
      sampled: failed('failed-retryable') + failed('failed-terminal'),
      truncated: false,
    },
    cache: { available: false, entries: 0, totalBytes: 0 },
    metrics: { available: true },
    runtime: {
      activeLeaseSampleCount: Math.min(leases, SAMPLE),
      activeSessionSampleCount: Math.min(sessions, SAMPLE),
      truncated: leases > SAMPLE || sessions > SAMPLE,
    },
  }
}

/** Each node counts once in the text index, and once in the vector index when the space has vectors. */
function projectionSummaries(db: Database, space: SpaceRow) {
  const row = db.get<{ ready: number | null; building: number | null }>(
    `SELECT sum(CASE WHEN from_revision IS NOT NULL THEN node_count ELSE 0 END) ready,
            sum(CASE WHEN from_revision IS NULL THEN node_count ELSE 0 END) building
     FROM versions WHERE space_key = ? AND until_revision IS NULL`,
    space.key,
  )
  const failedDocuments = db.get<{ n: number }>(
    "SELECT count(*) n FROM documents WHERE space_key = ? AND parser_status = 'failed' AND deleted_at IS NULL",
    space.key,
  )
  const ready = row?.ready ?? 0
  const building = row?.building ?? 0
  const vectors =
    db.get<{ n: number }>(
      'SELECT count(*) n FROM vectors WHERE vector_space = (SELECT key FROM vector_spaces WHERE id = ?)',
      space.vector_space,
    )?.n ?? 0
  const text: ProjectionSummary = {
    total: ready + building,
    ready,
    building,
    stale: 0,
    failed: failedDocuments?.n ?? 0,
  }
  const live = Math.min(vectors, ready)
  const none: ProjectionSummary = { total: 0, ready: 0, building: 0, stale: 0, failed: 0 }
  return {
    denseVector: { total: ready + building, ready: live, building: ready + building - live, stale: 0, failed: 0 },
    fts: text,
    graph: none,
    metadata: { ...text, failed: 0 },
  }
}

interface SessionRow {
  id: string
  subject: string
  client_kind: 'api' | 'mcp' | 'worker' | 'admin'
  heartbeat_at: number
  expires_at: number
}

function sessionRows(db: Database, spaceKey: number, now: number): SessionRow[] {
  return db.all<SessionRow>(
    'SELECT * FROM sessions WHERE space_key = ? AND expires_at > ? ORDER BY id LIMIT ?',
    spaceKey,
    now,
    SAMPLE + 1,
  )
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

function failedCommitRows(db: Database, spaceKey: number): FailedCommitRow[] {
  return db.all<FailedCommitRow>(
    "SELECT id, status, error_code, expires_at, updated_at FROM staged_commits WHERE space_key = ? AND status IN ('failed-retryable', 'failed-terminal') ORDER BY id LIMIT ?",
    spaceKey,
    SAMPLE + 1,
  )
}

function toFailedCommit(row: FailedCommitRow): KnowledgeSpaceStatus['failedCommits']['items'][number] {
  return {
    id: row.id,
    status: row.status,
    ...(row.error_code === null ? {} : { errorCode: row.error_code }),
    ...(row.expires_at === null ? {} : { expiresAt: new Date(row.expires_at).toISOString() }),
    updatedAt: new Date(row.updated_at).toISOString(),
  }
}

function sample<T>(rows: T[]): { count: number; truncated: boolean; items: T[] } {
  const items = rows.slice(0, SAMPLE)
  return { count: items.length, truncated: rows.length > SAMPLE, items }
}
