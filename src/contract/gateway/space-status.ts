import { z } from 'zod'
import { LIMITS } from '../limits.js'
import { ConsistencyClass, count, isoDateTime, positive, queryInt, SpaceParams, uuid } from '../primitives.js'
import { route } from '../route.js'
import { DEGRADED_CLASSES } from '../values.js'

/** How a space is doing: what is at work in it, and what it holds. */

const projectionSummary = z.strictObject({ total: count, ready: count, building: count, stale: count, failed: count })
export type ProjectionSummary = z.output<typeof projectionSummary>

const sampled = <T extends z.ZodType>(item: T) =>
  z.strictObject({ count, truncated: z.boolean(), items: z.array(item) })

/** What a model's provider said last, after which it is asked again. */
const lastFailure = {
  errorClass: z.enum(DEGRADED_CLASSES).optional(),
  error: z.string().optional(),
  /** somebody has to change something before it can succeed */
  permanent: z.boolean().optional(),
  since: isoDateTime.optional(),
  nextAttemptAt: isoDateTime.optional(),
}

/** Passages that are found by their text alone, since the provider of the space's model has made no vectors of them. */
const missingVectors = z.strictObject({
  /** published passages without a vector that follows by itself */
  passages: count,
  /** passages that the model refused */
  refused: count,
  ...lastFailure,
  documents: sampled(z.strictObject({ documentId: uuid, filename: z.string(), passages: count, refused: count })),
})

/** What a vision model made of the pictures of a space. */
const describedPictures = z.strictObject({
  described: count,
  /** pictures that the model refused, or that cannot be drawn */
  refused: count,
  ...lastFailure,
})

export const LeaseType = z.enum(['read', 'publish', 'delete', 'reindex'])

export const KnowledgeSpaceStatus = z
  .strictObject({
    knowledgeSpaceId: uuid,
    tenantId: z.string(),
    generatedAt: isoDateTime,
    activeLeases: sampled(
      z.strictObject({
        id: uuid,
        leaseType: LeaseType,
        targetType: z.string(),
        virtualPath: z.string(),
        expiresAt: isoDateTime,
      }),
    ),
    activeSessions: sampled(
      z.strictObject({
        id: uuid,
        subjectId: z.string(),
        clientKind: z.enum(['api', 'mcp', 'worker', 'admin']),
        consistencyClass: ConsistencyClass,
        heartbeatAt: isoDateTime,
        expiresAt: isoDateTime,
      }),
    ),
    failedCommits: sampled(
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
      /** an addition of ours, there only while an index is not whole: why */
      degraded: z.array(z.string()).optional(),
      missingVectors: missingVectors.optional(),
      /** an addition of ours, there only where a vision model is configured and was asked */
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
      /** an addition of ours, there only while an index is not whole: why */
      degraded: z.array(z.string()).optional().describe('why an index is not whole; absent when all are'),
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
    summary: 'Read leases, sessions, failed commits and the state of the projections.',
    params: SpaceParams,
    ok: { 200: KnowledgeSpaceStatus },
    errors: [404],
  }),
  route({
    id: 'getKnowledgeSpaceStats',
    method: 'GET',
    path: '/knowledge-spaces/{id}/stats',
    scope: 'read',
    summary: 'Read counts over a window of time.',
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
