import { z } from 'zod'
import { LIMITS } from '../limits.js'
import {
  ConcreteMode,
  ConsistencyClass,
  count,
  isoDateTime,
  ModelReference,
  metadata,
  opaqueCursor,
  openLimit,
  page,
  positive,
  queryInt,
  SpaceParams,
  slug,
  uuid,
} from '../primitives.js'
import { route } from '../route.js'

export const KnowledgeSpace = z
  .strictObject({
    id: uuid,
    name: z.string(),
    slug: z.string(),
    description: z.string().optional(),
    tenantId: z.string(),
    createdAt: isoDateTime,
    updatedAt: isoDateTime,
  })
  .meta({ id: 'KnowledgeSpace' })
export type KnowledgeSpace = z.output<typeof KnowledgeSpace>

export const EmbeddingProfile = z
  .strictObject({
    pluginId: z.string(),
    provider: z.string(),
    model: z.string(),
    vectorSpaceId: z.string(),
    revision: positive,
    dimension: positive.optional(),
  })
  .meta({ id: 'EmbeddingProfile' })
export type EmbeddingProfile = z.output<typeof EmbeddingProfile>

const nullableBudget = count.nullable()

export const QuotaPolicy = z
  .strictObject({
    maxActiveJobCount: count,
    maxActiveSessionCount: count,
    maxArtifactBytes: count,
    maxGraphEntityCount: count,
    maxGraphRelationCount: count,
    maxNodeCount: count,
    maxProjectionCount: count,
    maxRawDocumentBytes: count,
    maxSegmentCount: count,
    maxTraceBytes: count.nullable(),
    providerBudgets: z.strictObject({
      maxEmbeddingTokensPerDay: nullableBudget,
      maxLlmTokensPerDay: nullableBudget,
      maxParserPagesPerDay: nullableBudget,
      maxRerankRequestsPerDay: nullableBudget,
    }),
  })
  .meta({ id: 'QuotaPolicy' })
export type QuotaPolicy = z.output<typeof QuotaPolicy>

export const KnowledgeSpaceManifest = z
  .strictObject({
    id: uuid,
    knowledgeSpaceId: uuid,
    tenantId: z.string(),
    manifestVersion: positive,
    minClientVersion: z.string(),
    nodeSchemaVersion: positive,
    parserPolicyVersion: z.string(),
    projectionSetVersion: z.string(),
    objectKeyPrefix: z.string(),
    metadata,
    createdAt: isoDateTime,
    updatedAt: isoDateTime,
    embeddingProfile: EmbeddingProfile.optional(),
    embeddingProfileFrozenAt: isoDateTime.optional(),
    metadataDialect: z.enum(['portable', 'relational-a', 'relational-b']),
    storageProvider: z.enum(['memory-dev', 'edge-object-store', 'compatible-object-store']),
    consistencyPolicy: z.strictObject({
      defaultClass: ConsistencyClass,
      snapshotTtlSeconds: positive,
      cacheTtlSeconds: count.optional(),
    }),
    encryptionPolicy: z.strictObject({
      strategy: z.enum(['provider-managed', 'customer-managed', 'none']),
      keyRef: z.string().optional(),
    }),
    retentionPolicy: z.strictObject({
      artifactVersionsToKeep: positive,
      failedCommitRetentionDays: positive,
      traceRetentionDays: positive,
    }),
    quotaPolicy: QuotaPolicy,
  })
  .meta({ id: 'KnowledgeSpaceManifest' })
export type KnowledgeSpaceManifest = z.output<typeof KnowledgeSpaceManifest>

const projectionSummary = z.strictObject({ total: count, ready: count, building: count, stale: count, failed: count })
export type ProjectionSummary = z.output<typeof projectionSummary>

const sampled = <T extends z.ZodType>(item: T) =>
  z.strictObject({ count, truncated: z.boolean(), items: z.array(item) })

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

export const RetrievalProfileBody = z
  .strictObject({
    defaultMode: ConcreteMode,
    modes: z.array(ConcreteMode).min(1).max(3),
    topK: z.int().min(1).max(LIMITS.topK),
    scoreThreshold: z.number().min(0).max(1),
    reasoningModel: ModelReference.optional(),
    rerank: z.strictObject({ enabled: z.boolean(), model: ModelReference.optional() }),
  })
  .meta({ id: 'RetrievalProfileRequest' })
export type RetrievalProfileBody = z.output<typeof RetrievalProfileBody>

export const RetrievalProfile = z
  .strictObject({ revision: positive, ...RetrievalProfileBody.shape })
  .meta({ id: 'RetrievalProfile' })
export type RetrievalProfile = z.output<typeof RetrievalProfile>

const name = z.string().min(1).max(LIMITS.spaceName)
const description = z.string().max(LIMITS.spaceDescription)

export const CreateSpaceBody = z.strictObject({
  name,
  slug,
  description: description.optional(),
  embeddingProfile: ModelReference.optional(),
})
export type CreateSpaceBody = z.output<typeof CreateSpaceBody>

export const UpdateSpaceBody = z.strictObject({
  name: name.optional(),
  slug: slug.optional(),
  description: description.optional(),
})
export type UpdateSpaceBody = z.output<typeof UpdateSpaceBody>

export const spacesRoutes = [
  route({
    id: 'createKnowledgeSpace',
    method: 'POST',
    path: '/knowledge-spaces',
    scope: 'write',
    summary: 'Create a knowledge space.',
    body: CreateSpaceBody,
    ok: { 201: KnowledgeSpace },
    errors: [400, 409, 429, 503],
  }),
  route({
    id: 'listKnowledgeSpaces',
    method: 'GET',
    path: '/knowledge-spaces',
    scope: 'read',
    summary: 'List the knowledge spaces of the tenant, oldest first.',
    query: z.strictObject({ limit: openLimit, cursor: opaqueCursor.optional() }),
    ok: { 200: page(KnowledgeSpace) },
    errors: [400],
  }),
  route({
    id: 'getKnowledgeSpace',
    method: 'GET',
    path: '/knowledge-spaces/{id}',
    scope: 'read',
    summary: 'Read one knowledge space.',
    params: SpaceParams,
    ok: { 200: KnowledgeSpace },
    errors: [404],
  }),
  route({
    id: 'updateKnowledgeSpace',
    method: 'PATCH',
    path: '/knowledge-spaces/{id}',
    scope: 'write',
    summary: 'Change name, slug or description of a knowledge space.',
    params: SpaceParams,
    body: UpdateSpaceBody,
    ok: { 200: KnowledgeSpace },
    errors: [400, 404, 409],
  }),
  route({
    id: 'deleteKnowledgeSpace',
    method: 'DELETE',
    path: '/knowledge-spaces/{id}',
    scope: 'write',
    summary: 'Delete a knowledge space and everything in it.',
    params: SpaceParams,
    ok: { 204: 'empty' },
    errors: [404],
  }),
  route({
    id: 'getKnowledgeSpaceManifest',
    method: 'GET',
    path: '/knowledge-spaces/{id}/manifest',
    scope: 'read',
    summary: 'Read the versioned settings of a knowledge space.',
    params: SpaceParams,
    ok: { 200: KnowledgeSpaceManifest },
    errors: [404],
  }),
  route({
    id: 'setEmbeddingProfile',
    method: 'PUT',
    path: '/knowledge-spaces/{id}/embedding-profile',
    scope: 'write',
    summary: 'Choose the embedding model of a space that holds no documents yet.',
    params: SpaceParams,
    body: ModelReference,
    ok: { 200: EmbeddingProfile },
    errors: [400, 404, 409, 503],
  }),
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
  route({
    id: 'getRetrievalProfile',
    method: 'GET',
    path: '/knowledge-spaces/{id}/retrieval-profile',
    scope: 'read',
    summary: 'Read the published retrieval profile.',
    params: SpaceParams,
    ok: { 200: RetrievalProfile },
    errors: [404],
    extension: true,
  }),
  route({
    id: 'setRetrievalProfile',
    method: 'PUT',
    path: '/knowledge-spaces/{id}/retrieval-profile',
    scope: 'write',
    summary: 'Publish a retrieval profile; its revision rises by one.',
    params: SpaceParams,
    body: RetrievalProfileBody,
    ok: { 200: RetrievalProfile },
    errors: [400, 404, 503],
    extension: true,
  }),
] as const
