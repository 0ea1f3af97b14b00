import { z } from 'zod'
import { LIMITS } from '../limits.js'
import {
  count,
  isoDateTime,
  metadata,
  opaqueCursor,
  openLimit,
  page,
  positive,
  SpaceParams,
  uuid,
} from '../primitives.js'
import { route } from '../route.js'
import { STAGED_COMMIT_STATUSES } from '../values.js'

export const FsckCheck = z.enum(['raw-objects', 'artifact-segments', 'references'])
export type FsckCheck = z.output<typeof FsckCheck>

export const IssueType = z.enum([
  'missing-raw-object',
  'checksum-mismatch',
  'size-mismatch',
  'missing-artifact-object',
  'segment-hash-mismatch',
  'broken-path-target',
  'missing-node-target',
  'stale-projection',
  'orphaned-staged-object',
  'failed-commit-expired',
])
export type IssueType = z.output<typeof IssueType>

export const IntegrityTarget = z
  .strictObject({
    type: z.enum([
      'raw-object',
      'artifact-object',
      'artifact-segment',
      'knowledge-path',
      'knowledge-node',
      'index-projection',
      'staged-commit',
    ]),
    id: z.string().optional(),
    objectKey: z.string().optional(),
    documentAssetId: z.string().optional(),
    parseArtifactId: z.string().optional(),
    virtualPath: z.string().optional(),
  })
  .meta({ id: 'IntegrityTarget' })
export type IntegrityTarget = z.output<typeof IntegrityTarget>

export const ConsistencyIssue = z
  .strictObject({
    code: z.string(),
    message: z.string(),
    type: IssueType,
    severity: z.enum(['info', 'warning', 'error', 'critical']),
    repairability: z.enum(['auto-repairable', 'manual', 'not-repairable']),
    target: IntegrityTarget,
  })
  .meta({ id: 'ConsistencyIssue' })
export type ConsistencyIssue = z.output<typeof ConsistencyIssue>

export const ConsistencyReport = z
  .strictObject({
    knowledgeSpaceId: uuid,
    tenantId: z.string(),
    scannedAt: isoDateTime,
    cursor: z.string().optional(),
    summary: z.strictObject({
      scanned: count,
      info: count,
      warning: count,
      error: count,
      critical: count,
      repairable: count,
    }),
    issues: z.array(ConsistencyIssue).max(LIMITS.reportEntries),
  })
  .meta({ id: 'ConsistencyReport' })
export type ConsistencyReport = z.output<typeof ConsistencyReport>

export const RepairBody = z.strictObject({
  dryRun: z.boolean().default(true),
  check: FsckCheck.default('raw-objects'),
  deep: z.boolean().default(false),
  cursor: opaqueCursor.optional(),
  /** Only issues of these types; absent: all. */
  types: z.array(IssueType).min(1).max(IssueType.options.length).optional(),
})
export type RepairBody = z.output<typeof RepairBody>

export const RepairReport = z
  .strictObject({
    knowledgeSpaceId: uuid,
    tenantId: z.string(),
    scannedAt: isoDateTime,
    dryRun: z.boolean(),
    cursor: z.string().optional(),
    summary: z.strictObject({
      scanned: count,
      wouldRepair: count,
      repaired: count,
      failed: count,
      manual: count,
      notRepairable: count,
    }),
    items: z.array(
      z.strictObject({
        issue: ConsistencyIssue,
        status: z.enum(['would-repair', 'repaired', 'failed', 'manual', 'not-repairable']),
        /** The repair, done or planned, or what a person can do. */
        action: z.string(),
      }),
    ),
  })
  .meta({ id: 'RepairReport' })
export type RepairReport = z.output<typeof RepairReport>

export const GcCandidate = z
  .strictObject({
    candidateType: z.enum([
      'staged-object',
      'failed-commit',
      'artifact-segment',
      'parse-artifact',
      'index-projection',
      'answer-trace',
    ]),
    count: positive,
    estimatedBytes: count,
    idempotencyKey: z.string().min(1).max(LIMITS.idempotencyKey),
    reason: z.string().min(1).max(LIMITS.gcReason),
    target: IntegrityTarget,
  })
  .meta({ id: 'GcCandidate' })
export type GcCandidate = z.output<typeof GcCandidate>

export const GcDryRun = z
  .strictObject({
    knowledgeSpaceId: uuid,
    tenantId: z.string(),
    dryRunId: uuid,
    generatedAt: isoDateTime,
    cursor: z.string().optional(),
    summary: z.strictObject({
      candidateCount: count,
      stagedObjectCount: count,
      failedCommitCount: count,
      estimatedBytes: count,
    }),
    candidates: z.array(GcCandidate).max(LIMITS.reportEntries),
  })
  .meta({ id: 'GcDryRun' })
export type GcDryRun = z.output<typeof GcDryRun>

export const GcExecuted = z
  .strictObject({
    tenantId: z.string(),
    deleted: count,
    skipped: count,
    items: z.array(
      z.strictObject({
        objectKey: z.string(),
        idempotencyKey: z.string(),
        status: z.enum(['deleted', 'skipped-active-lease']),
      }),
    ),
  })
  .meta({ id: 'GcExecuted' })
export type GcExecuted = z.output<typeof GcExecuted>

export const StagedCommitStatus = z.enum(STAGED_COMMIT_STATUSES)
export type StagedCommitStatus = z.output<typeof StagedCommitStatus>

export const StagedCommit = z
  .strictObject({
    id: uuid,
    knowledgeSpaceId: uuid,
    tenantId: z.string(),
    idempotencyKey: z.string(),
    operationType: z.enum(['document-upload', 'artifact-segment-write', 'bulk-reindex', 'projection-publish']),
    status: StagedCommitStatus,
    documentAssetId: uuid.optional(),
    parseArtifactId: z.string().optional(),
    rawObjectKey: z.string().optional(),
    publishedObjectKey: z.string().optional(),
    projectionFingerprint: z.string().optional(),
    checksum: z.string().optional(),
    sizeBytes: count.optional(),
    errorCode: z.string().optional(),
    errorMessage: z.string().optional(),
    expiresAt: isoDateTime.optional(),
    createdAt: isoDateTime,
    updatedAt: isoDateTime,
  })
  .meta({ id: 'StagedCommit' })
export type StagedCommit = z.output<typeof StagedCommit>

export const Lease = z
  .strictObject({
    id: uuid,
    knowledgeSpaceId: uuid,
    tenantId: z.string(),
    sessionId: z.string(),
    leaseType: z.enum(['read', 'publish', 'delete', 'reindex']),
    status: z.enum(['active', 'released', 'expired', 'failed']),
    targetId: z.string(),
    targetType: z.string(),
    targetVersion: z.int().optional(),
    virtualPath: z.string(),
    metadata,
    acquiredAt: isoDateTime,
    heartbeatAt: isoDateTime,
    expiresAt: isoDateTime,
    updatedAt: isoDateTime,
  })
  .meta({ id: 'Lease' })
export type Lease = z.output<typeof Lease>

/** Prefix of an object key: no absolute path, no parent directory. */
const objectKeyPrefix = z
  .string()
  .min(1)
  .max(LIMITS.cursor)
  .regex(/^(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._/-]*$/, 'the beginning of an object key')

export const integrityRoutes = [
  route({
    id: 'fsck',
    method: 'GET',
    path: '/knowledge-spaces/{id}/fsck',
    scope: 'read',
    summary: 'Check that rows, files and indexes are consistent; a large space takes several pages.',
    params: SpaceParams,
    query: z.strictObject({
      check: FsckCheck.default('raw-objects'),
      cursor: opaqueCursor.optional(),
      /** `true` (extension): with `references`, also searches every passage by its own vector and its rarest term. */
      deep: z.enum(['true', 'false']).default('false'),
    }),
    ok: { 200: ConsistencyReport },
    errors: [400, 404, 503],
  }),
  route({
    id: 'fsckRepair',
    method: 'POST',
    path: '/knowledge-spaces/{id}/fsck/repair',
    scope: 'write',
    summary: 'Check one page again and repair issues that need neither a person nor a model; a dry run by default.',
    params: SpaceParams,
    body: RepairBody,
    ok: { 200: RepairReport },
    errors: [400, 404, 503],
    extension: true,
  }),
  route({
    id: 'gcDryRun',
    method: 'GET',
    path: '/knowledge-spaces/{id}/gc/staged-objects',
    scope: 'read',
    summary: 'List unreferenced data that can be removed.',
    params: SpaceParams,
    query: z.strictObject({ cursor: opaqueCursor.optional(), stagedObjectPrefix: objectKeyPrefix.optional() }),
    ok: { 200: GcDryRun },
    errors: [400, 404],
  }),
  route({
    id: 'gcExecute',
    method: 'POST',
    path: '/knowledge-spaces/{id}/gc/staged-objects/execute',
    scope: 'write',
    summary: 'Remove candidates of a dry run; each is checked again, and data still in use is kept.',
    params: SpaceParams,
    body: z.strictObject({ candidates: z.array(GcCandidate).max(LIMITS.gcCandidates) }),
    ok: { 200: GcExecuted },
    errors: [400, 404, 503],
  }),
  route({
    id: 'listStagedCommits',
    method: 'GET',
    path: '/knowledge-spaces/{id}/staged-commits',
    scope: 'read',
    summary: 'List staged commits, oldest first.',
    params: SpaceParams,
    query: z.strictObject({ limit: openLimit, cursor: uuid.optional(), status: StagedCommitStatus.optional() }),
    ok: { 200: page(StagedCommit, uuid) },
    errors: [400, 404],
  }),
  route({
    id: 'listActiveLeases',
    method: 'GET',
    path: '/knowledge-spaces/{id}/leases/active',
    scope: 'read',
    summary: 'List active leases, oldest first.',
    params: SpaceParams,
    query: z.strictObject({ limit: openLimit, cursor: opaqueCursor.optional() }),
    ok: { 200: page(Lease) },
    errors: [400, 404],
  }),
] as const
