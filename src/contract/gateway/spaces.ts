import { z } from 'zod'
import { LIMITS } from '../limits.js'
import {
  ConsistencyClass,
  count,
  isoDateTime,
  ModelReference,
  metadata,
  opaqueCursor,
  openLimit,
  page,
  positive,
  SpaceParams,
  slug,
  uuid,
} from '../primitives.js'
import { route } from '../route.js'
import { embeddingMigrationRoutes } from './embedding-migrations.js'
import { retrievalProfileRoutes } from './retrieval-profile.js'
import { spaceStatusRoutes } from './space-status.js'

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
    summary: 'Get a knowledge space.',
    params: SpaceParams,
    ok: { 200: KnowledgeSpace },
    errors: [404],
  }),
  route({
    id: 'updateKnowledgeSpace',
    method: 'PATCH',
    path: '/knowledge-spaces/{id}',
    scope: 'write',
    summary: 'Update the name, slug or description of a knowledge space.',
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
    summary: 'Get the manifest of a knowledge space, its versioned settings.',
    params: SpaceParams,
    ok: { 200: KnowledgeSpaceManifest },
    errors: [404],
  }),
  route({
    id: 'setEmbeddingProfile',
    method: 'PUT',
    path: '/knowledge-spaces/{id}/embedding-profile',
    scope: 'write',
    summary: 'Set the embedding model of a space that has no documents yet.',
    params: SpaceParams,
    body: ModelReference,
    ok: { 200: EmbeddingProfile },
    errors: [400, 404, 409, 503],
  }),
  ...embeddingMigrationRoutes,
  ...spaceStatusRoutes,
  ...retrievalProfileRoutes,
] as const
