import { z } from 'zod'
import { LIMITS } from '../limits.js'
import {
  boundedLimit,
  ConcreteMode,
  count,
  isoDateTime,
  opaqueCursor,
  page,
  positive,
  QueryMode,
  queryInt,
  uuid,
} from '../primitives.js'
import { route } from '../route.js'
import { CatResult } from './fs.js'
import { EvidenceState } from './queries.js'

const workspace = z.string().min(1).max(LIMITS.workspaceName)

export const CreateSnapshotBody = z.strictObject({
  knowledgeSpaceId: uuid,
  workspace,
  name: z.string().min(1).max(LIMITS.snapshotName).optional(),
  sessionId: uuid.optional(),
})
export type CreateSnapshotBody = z.output<typeof CreateSnapshotBody>

const summaryFields = {
  id: uuid,
  knowledgeSpaceId: uuid,
  workspace: z.string(),
  name: z.string().optional(),
  /** The session of the recorded queries; absent if there was none. */
  sessionId: uuid.optional(),
  createdBy: z.string(),
  createdAt: isoDateTime,
  /** The current publication of the space at the time of the snapshot. */
  publicationId: uuid,
  fileCount: count,
  totalBytes: count,
  queryCount: count,
}

export const WorkspaceSnapshot = z.strictObject(summaryFields).meta({ id: 'WorkspaceSnapshot' })
export type WorkspaceSnapshot = z.output<typeof WorkspaceSnapshot>

export const WorkspaceSnapshotFile = z
  .strictObject({
    path: z.string(),
    sizeBytes: count,
    sha256: z.string(),
    contentType: z.string(),
    version: positive,
    updatedAt: isoDateTime,
  })
  .meta({ id: 'FrozenFile' })
export type WorkspaceSnapshotFile = z.output<typeof WorkspaceSnapshotFile>

/** A passage in the evidence of a query. The file name of a deleted document is omitted. */
export const EvidenceReference = z
  .strictObject({
    nodeId: uuid,
    documentAssetId: uuid,
    documentVersion: positive,
    filename: z.string().optional(),
    sectionPath: z.array(z.string()).optional(),
    rank: positive,
    score: z.number().min(0).max(1),
  })
  .meta({ id: 'EvidenceReference' })
export type EvidenceReference = z.output<typeof EvidenceReference>

export const RecordedQuery = z
  .strictObject({
    traceId: uuid,
    query: z.string(),
    requestedMode: QueryMode,
    mode: ConcreteMode,
    askedAt: isoDateTime,
    evidenceState: EvidenceState,
    evidence: z.array(EvidenceReference),
  })
  .meta({ id: 'RecordedQuery' })
export type RecordedQuery = z.output<typeof RecordedQuery>

export const WorkspaceSnapshotDetail = z
  .strictObject({ ...summaryFields, files: z.array(WorkspaceSnapshotFile), queries: z.array(RecordedQuery) })
  .meta({ id: 'WorkspaceSnapshotDetail' })
export type WorkspaceSnapshotDetail = z.output<typeof WorkspaceSnapshotDetail>

export const LostEvidenceReason = z.enum(['document-deleted', 'passage-gone', 'not-retrieved'])
export type LostEvidenceReason = z.output<typeof LostEvidenceReason>

export const ReplayedQuery = z
  .strictObject({
    traceId: uuid,
    query: z.string(),
    mode: ConcreteMode,
    evidenceState: z.strictObject({ recorded: EvidenceState, now: EvidenceState.optional() }),
    added: z.array(EvidenceReference),
    lost: z.array(z.strictObject({ ...EvidenceReference.shape, reason: LostEvidenceReason })),
    kept: z.array(z.strictObject({ ...EvidenceReference.shape, recorded: EvidenceReference })),
    /** Why the query could not be run today. */
    error: z.string().optional(),
  })
  .meta({ id: 'ReplayedQuery' })
export type ReplayedQuery = z.output<typeof ReplayedQuery>

export const SnapshotReplay = z
  .strictObject({
    snapshotId: uuid,
    knowledgeSpaceId: uuid,
    replayedAt: isoDateTime,
    publicationId: uuid,
    summary: z.strictObject({ queries: count, failed: count, added: count, lost: count, kept: count }),
    queries: z.array(ReplayedQuery),
    /** Index of the query to continue with, if the time limit of one call was reached. */
    nextFrom: count.optional(),
  })
  .meta({ id: 'SnapshotReplay' })
export type SnapshotReplay = z.output<typeof SnapshotReplay>

export const ListSnapshotsQuery = z.strictObject({
  knowledgeSpaceId: uuid.optional(),
  workspace: workspace.optional(),
  limit: boundedLimit(LIMITS.snapshotsPage),
  cursor: opaqueCursor.optional(),
})
export type ListSnapshotsQuery = z.output<typeof ListSnapshotsQuery>

export const SnapshotFileQuery = z.strictObject({
  path: z.string().min(1).max(LIMITS.virtualPathBytes),
  offset: queryInt({ min: 0 }).default(0),
  maxBytes: queryInt({ min: 1, max: LIMITS.catBytes.max }).default(LIMITS.catBytes.default),
})
export type SnapshotFileQuery = z.output<typeof SnapshotFileQuery>

const SnapshotParams = z.strictObject({ snapshotId: uuid })
const COLLECTION_PATH = '/agent-workspace-snapshots'
const SNAPSHOT_PATH = `${COLLECTION_PATH}/{snapshotId}` as const

export const snapshotsRoutes = [
  route({
    id: 'createWorkspaceSnapshot',
    method: 'POST',
    path: COLLECTION_PATH,
    scope: 'write',
    summary: "Freeze the files of an agent's workspace and the queries of its session.",
    body: CreateSnapshotBody,
    ok: { 201: WorkspaceSnapshot },
    errors: [400, 404, 429, 503],
    extension: true,
  }),
  route({
    id: 'listWorkspaceSnapshots',
    method: 'GET',
    path: COLLECTION_PATH,
    scope: 'read',
    summary: "List the caller's snapshots, newest first.",
    query: ListSnapshotsQuery,
    ok: { 200: page(WorkspaceSnapshot) },
    errors: [400, 404],
    extension: true,
  }),
  route({
    id: 'getWorkspaceSnapshot',
    method: 'GET',
    path: SNAPSHOT_PATH,
    scope: 'read',
    summary: 'Get a snapshot with its files and recorded queries.',
    params: SnapshotParams,
    ok: { 200: WorkspaceSnapshotDetail },
    errors: [404],
    extension: true,
  }),
  route({
    id: 'deleteWorkspaceSnapshot',
    method: 'DELETE',
    path: SNAPSHOT_PATH,
    scope: 'write',
    summary: 'Delete a snapshot.',
    params: SnapshotParams,
    ok: { 204: 'empty' },
    errors: [404, 503],
    extension: true,
  }),
  route({
    id: 'readWorkspaceSnapshotFile',
    method: 'GET',
    path: `${SNAPSHOT_PATH}/file`,
    scope: 'read',
    summary: 'Get the text of a file in a snapshot.',
    params: SnapshotParams,
    query: SnapshotFileQuery,
    ok: { 200: CatResult },
    errors: [400, 404],
    extension: true,
  }),
  route({
    id: 'replayWorkspaceSnapshot',
    method: 'POST',
    path: `${SNAPSHOT_PATH}/replay`,
    scope: 'read',
    summary: 'Run the queries of a snapshot against the current publication and compare their evidence.',
    params: SnapshotParams,
    query: z.strictObject({ from: queryInt({ min: 0 }).default(0) }),
    ok: { 200: SnapshotReplay },
    errors: [400, 404, 429, 503],
    extension: true,
  }),
] as const
