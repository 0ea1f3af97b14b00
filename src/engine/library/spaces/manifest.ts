import { KsError } from '../../../contract/errors.js'
import type { EmbeddingProfile, KnowledgeSpaceManifest, QuotaPolicy } from '../../../contract/gateway/spaces.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { ObjectStore } from '../../store/objects.js'
import { parseJsonCell } from '../../store/readable.js'
import type { SpaceRow } from '../../store/rows/spaces.js'

const GIB = 1024 ** 3

export const NODE_SCHEMA_VERSION = 1
export const PARSER_POLICY_VERSION = 'parser-1'
export const PROJECTION_SET_VERSION = 'projections-1'
const MIN_CLIENT_VERSION = '0.1.0'

/** The parts of a manifest that are stored as one JSON value. */
export type Policies = Pick<
  KnowledgeSpaceManifest,
  | 'metadata'
  | 'metadataDialect'
  | 'storageProvider'
  | 'consistencyPolicy'
  | 'encryptionPolicy'
  | 'retentionPolicy'
  | 'quotaPolicy'
>

const DEFAULT_QUOTAS: QuotaPolicy = {
  maxActiveJobCount: 64,
  maxActiveSessionCount: 256,
  maxArtifactBytes: 10 * GIB,
  maxGraphEntityCount: 500_000,
  maxGraphRelationCount: 2_000_000,
  maxNodeCount: 5_000_000,
  maxProjectionCount: 20_000_000,
  maxRawDocumentBytes: 50 * GIB,
  maxSegmentCount: 5_000_000,
  maxTraceBytes: GIB,
  providerBudgets: {
    maxEmbeddingTokensPerDay: null,
    maxLlmTokensPerDay: null,
    maxParserPagesPerDay: null,
    maxRerankRequestsPerDay: null,
  },
}

/** Policies of a new space. */
export const DEFAULT_POLICIES: Policies = {
  metadata: {},
  metadataDialect: 'portable',
  storageProvider: 'compatible-object-store',
  consistencyPolicy: { defaultClass: 'path-consistent', snapshotTtlSeconds: 900, cacheTtlSeconds: 30 },
  encryptionPolicy: { strategy: 'none' },
  retentionPolicy: { artifactVersionsToKeep: 3, failedCommitRetentionDays: 7, traceRetentionDays: 90 },
  quotaPolicy: DEFAULT_QUOTAS,
}

export function parsePolicies(row: SpaceRow): Policies {
  const stored: unknown = parseJsonCell(row.manifest)
  if (typeof stored !== 'object' || stored === null) throw new KsError('internal', 'a stored manifest is not an object')
  return { ...DEFAULT_POLICIES, ...stored }
}

export function toEmbeddingProfile(row: SpaceRow): EmbeddingProfile {
  return {
    pluginId: row.embedding_plugin,
    provider: row.embedding_provider,
    model: row.embedding_model,
    vectorSpaceId: row.vector_space,
    revision: row.embedding_revision,
    ...omitUndefined({ dimension: row.dimension ?? undefined }),
  }
}

export function toManifest(row: SpaceRow): KnowledgeSpaceManifest {
  return {
    id: row.manifest_id,
    knowledgeSpaceId: row.id,
    tenantId: row.tenant,
    manifestVersion: row.manifest_version,
    minClientVersion: MIN_CLIENT_VERSION,
    nodeSchemaVersion: NODE_SCHEMA_VERSION,
    parserPolicyVersion: PARSER_POLICY_VERSION,
    projectionSetVersion: PROJECTION_SET_VERSION,
    objectKeyPrefix: ObjectStore.prefix(row.tenant),
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
    embeddingProfile: toEmbeddingProfile(row),
    ...(row.frozen_at === null ? {} : { embeddingProfileFrozenAt: new Date(row.frozen_at).toISOString() }),
    ...parsePolicies(row),
  }
}
