import { z } from 'zod'
import { LIMITS } from '../limits.js'
import { ConsistencyClass, count, isoDateTime, positive, queryInt, SpaceParams, uuid } from '../primitives.js'
import { route } from '../route.js'
import { DEGRADED_CLASSES } from '../values.js'

/** Status and statistics of a space: running work and content. */

/** Counts of the entries of one index. */
const projectionSummary = z.strictObject({
  total: count.describe('number of entries that the index should have; sum of the other counts'),
  ready: count.describe('number of entries that can be searched'),
  building: count.describe('number of entries that are not computed yet'),
  stale: count.describe('number of entries of superseded versions; always 0'),
  failed: count.describe('number of entries that could not be computed; a failed document counts as one'),
})
export type ProjectionSummary = z.output<typeof projectionSummary>

const sampledList = <T extends z.ZodType>(item: T) =>
  z.strictObject({
    count: count.describe('number of all entries, also of those that are not listed'),
    truncated: z.boolean().describe('whether `items` lists fewer entries than `count`'),
    items: z.array(item).describe('at most 100 entries'),
  })

/** Last failure of a model's provider, and the next attempt. */
const lastFailure = {
  errorClass: z.enum(DEGRADED_CLASSES).optional(),
  error: z.string().optional(),
  /** Something must be changed before it can succeed. */
  permanent: z.boolean().optional(),
  since: isoDateTime.optional(),
  nextAttemptAt: isoDateTime.optional(),
}

/**
 * Passages that only the text index finds, because the provider of the space's model has computed no vectors for them.
 */
const missingVectors = z.strictObject({
  /** Published passages whose vector is pending and computed automatically. */
  passages: count,
  /** Passages that the model refused. */
  refused: count,
  ...lastFailure,
  documents: sampledList(z.strictObject({ documentId: uuid, filename: z.string(), passages: count, refused: count })),
})

/** Results of the vision model for the pictures of a space. */
const describedPictures = z.strictObject({
  described: count,
  /** Pictures that the model refused or that cannot be rendered. */
  refused: count,
  ...lastFailure,
})

export const LeaseType = z.enum(['read', 'publish', 'delete', 'reindex'])

export const KnowledgeSpaceStatus = z
  .strictObject({
    knowledgeSpaceId: uuid,
    tenantId: z.string(),
    generatedAt: isoDateTime,
    activeLeases: sampledList(
      z.strictObject({
        id: uuid,
        leaseType: LeaseType,
        targetType: z.string(),
        virtualPath: z.string(),
        expiresAt: isoDateTime,
      }),
    ),
    activeSessions: sampledList(
      z.strictObject({
        id: uuid,
        subjectId: z.string(),
        clientKind: z.enum(['api', 'mcp', 'worker', 'admin']),
        consistencyClass: ConsistencyClass,
        heartbeatAt: isoDateTime,
        expiresAt: isoDateTime,
      }),
    ),
    failedCommits: sampledList(
      z.strictObject({
        id: uuid,
        status: z.enum(['failed-retryable', 'failed-terminal']),
        errorCode: z.string().optional(),
        expiresAt: isoDateTime.optional(),
        updatedAt: isoDateTime,
      }),
    ),
    index: z.strictObject({
      nodeSchemaVersion: positive,
      projectionVersion: count,
      projectionSetVersion: z.string(),
      summaries: z.strictObject({
        denseVector: projectionSummary,
        fts: projectionSummary,
        graph: projectionSummary,
        metadata: projectionSummary,
      }),
      /** Extension, present only while an index is incomplete: the reasons. */
      degraded: z.array(z.string()).optional(),
      missingVectors: missingVectors.optional(),
      /** Extension, present only if a vision model is configured and was called. */
      pictures: describedPictures.optional(),
    }),
    manifest: z.strictObject({
      manifestVersion: positive,
      metadataDialect: z.string(),
      storageProvider: z.string(),
      objectKeyPrefix: z.string(),
      consistencyClass: ConsistencyClass,
    }),
    parser: z.strictObject({ kind: z.string(), policyVersion: z.string() }),
    storage: z.strictObject({ healthy: z.boolean(), provider: z.string(), objectStorageKind: z.string() }),
  })
  .meta({ id: 'KnowledgeSpaceStatus' })
export type KnowledgeSpaceStatus = z.output<typeof KnowledgeSpaceStatus>

export const KnowledgeSpaceStats = z
  .strictObject({
    knowledgeSpaceId: uuid,
    tenantId: z.string(),
    generatedAt: isoDateTime,
    window: z.strictObject({ start: isoDateTime, end: isoDateTime, minutes: positive }),
    storage: z.strictObject({
      documentCount: count,
      rawDocumentBytes: count,
      workspaceFileCount: count.optional(),
      workspaceBytes: count.optional(),
    }),
    projections: z.strictObject({
      denseVector: projectionSummary,
      fts: projectionSummary,
      graph: projectionSummary,
      metadata: projectionSummary,
      projectionVersion: count,
      /** Extension, present only while an index is incomplete: the reasons. */
      degraded: z
        .array(z.string())
        .optional()
        .describe('reasons why an index is incomplete; absent if all are complete'),
    }),
    commits: z.strictObject({
      failedRetryable: count,
      failedTerminal: count,
      sampled: count,
      truncated: z.boolean(),
    }),
    cache: z.strictObject({ available: z.boolean(), entries: count, totalBytes: count }),
    metrics: z.strictObject({ available: z.boolean(), reason: z.string().optional() }),
    runtime: z.strictObject({
      activeLeaseSampleCount: count,
      activeSessionSampleCount: count,
      truncated: z.boolean(),
    }),
  })
  .meta({ id: 'KnowledgeSpaceStats' })
export type KnowledgeSpaceStats = z.output<typeof KnowledgeSpaceStats>

export const spaceStatusRoutes = [
  route({
    id: 'getKnowledgeSpaceStatus',
    method: 'GET',
    path: '/knowledge-spaces/{id}/status',
    scope: 'read',
    summary: 'Get the leases, sessions, failed commits and search indexes of a space.',
    params: SpaceParams,
    ok: { 200: KnowledgeSpaceStatus },
    errors: [404],
  }),
  route({
    id: 'getKnowledgeSpaceStats',
    method: 'GET',
    path: '/knowledge-spaces/{id}/stats',
    scope: 'read',
    summary: 'Get the current counts of a space, and its failed commits in a time window.',
    params: SpaceParams,
    query: z.strictObject({
      windowMinutes: queryInt({ min: 1, max: LIMITS.statsWindowMinutes.max }).default(
        LIMITS.statsWindowMinutes.default,
      ),
    }),
    ok: { 200: KnowledgeSpaceStats },
    errors: [400, 404],
  }),
] as const
