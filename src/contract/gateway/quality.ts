import { z } from 'zod'
import { LIMITS } from '../limits.js'
import {
  boundedLimit,
  count,
  instant,
  isoDateTime,
  ModelReference,
  opaqueCursor,
  page,
  positive,
  QueryMode,
  SpaceParams,
  uuid,
} from '../primitives.js'
import { route } from '../route.js'
import { failedRoutes } from './failed-queries.js'
import { goldenRoutes } from './golden-questions.js'
import { goldenRunRoutes } from './golden-runs.js'
import { EvidenceState } from './queries.js'

export const QualityTraceSummary = z
  .strictObject({
    id: uuid,
    query: z.string(),
    mode: QueryMode,
    createdAt: isoDateTime,
    /** The run ended with an answer, which may be a refusal. */
    completed: z.boolean(),
    evidenceBundleId: uuid.optional(),
    evidenceState: EvidenceState.optional(),
    finalScore: z.number().optional(),
    scores: z.strictObject({
      retrieval: z.number().optional(),
      rerank: z.number().optional(),
      final: z.number().optional(),
    }),
    profile: z.strictObject({
      embeddingModel: ModelReference.optional(),
      embeddingVectorSpaceId: z.string().optional(),
      reasoningModel: ModelReference.optional(),
      rerankModel: ModelReference.optional(),
      retrievalProfileRevision: positive.optional(),
      projectionPublicationId: z.string().optional(),
      projectionVersion: count.optional(),
    }),
    stages: z.array(
      z.strictObject({
        name: z.string(),
        status: z.enum(['ok', 'error', 'skipped']),
        candidateCount: count.optional(),
      }),
    ),
  })
  .meta({ id: 'QualityTraceSummary' })
export type QualityTraceSummary = z.output<typeof QualityTraceSummary>

export const QualityTracesQuery = z.strictObject({
  cursor: opaqueCursor.optional(),
  from: instant.optional(),
  to: instant.optional(),
  limit: boundedLimit(LIMITS.qualityTracesPage),
  mode: QueryMode.optional(),
  query: z.string().trim().min(1).max(LIMITS.qualityQuery).optional(),
  status: z.enum(['completed', 'failed']).optional(),
})
export type QualityTracesQuery = z.output<typeof QualityTracesQuery>

const ReviewStatus = z.enum(['active', 'dismissed'])

export const MissingEvidenceReview = z
  .strictObject({
    id: uuid,
    knowledgeSpaceId: uuid,
    itemKey: z.string(),
    status: ReviewStatus,
    reason: z.string().optional(),
    revision: positive,
    actorSubjectId: z.string(),
    createdAt: isoDateTime,
    updatedAt: isoDateTime,
  })
  .meta({ id: 'MissingEvidenceReview' })
export type MissingEvidenceReview = z.output<typeof MissingEvidenceReview>

export const MissingEvidenceHistory = z
  .strictObject({
    items: z.array(
      z.strictObject({
        id: uuid,
        action: z.enum(['activate', 'dismiss']),
        actorSubjectId: z.string(),
        fromStatus: ReviewStatus.optional(),
        toStatus: ReviewStatus,
        reason: z.string().optional(),
        revision: positive,
        createdAt: isoDateTime,
      }),
    ),
  })
  .meta({ id: 'MissingEvidenceHistory' })
export type MissingEvidenceHistory = z.output<typeof MissingEvidenceHistory>

export const ReviewBody = z.strictObject({
  expectedRevision: count,
  status: ReviewStatus,
  reason: z.string().min(1).max(LIMITS.missingReason).optional(),
})
export type ReviewBody = z.output<typeof ReviewBody>

const MissingParams = z.strictObject({
  id: uuid,
  traceId: uuid,
  itemKey: z.string().regex(/^sha256:[0-9a-f]{64}$/, '"sha256:" and 64 lowercase hex characters'),
})

export const qualityRoutes = [
  route({
    id: 'listQualityTraces',
    method: 'GET',
    path: '/knowledge-spaces/{id}/quality/traces',
    scope: 'read',
    summary: "List the caller's traces in a space, newest first, with scores and stages.",
    params: SpaceParams,
    query: QualityTracesQuery,
    ok: { 200: page(QualityTraceSummary) },
    errors: [400, 404, 503],
  }),
  route({
    id: 'reviewMissingEvidence',
    method: 'PATCH',
    path: '/knowledge-spaces/{id}/quality/traces/{traceId}/missing/{itemKey}',
    scope: 'write',
    summary: 'Dismiss missing evidence, or reactivate it.',
    params: MissingParams,
    body: ReviewBody,
    ok: { 200: MissingEvidenceReview },
    errors: [400, 404, 409, 503],
  }),
  route({
    id: 'listMissingEvidenceHistory',
    method: 'GET',
    path: '/knowledge-spaces/{id}/quality/traces/{traceId}/missing/{itemKey}/history',
    scope: 'read',
    summary: 'List the decisions about missing evidence, oldest first.',
    params: MissingParams,
    ok: { 200: MissingEvidenceHistory },
    errors: [400, 404, 503],
  }),
  ...goldenRoutes,
  ...goldenRunRoutes,
  ...failedRoutes,
] as const
