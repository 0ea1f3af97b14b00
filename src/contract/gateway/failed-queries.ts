import { z } from 'zod'
import { LIMITS } from '../limits.js'
import {
  boundedLimit,
  count,
  isoDateTime,
  metadata,
  opaqueCursor,
  page,
  positive,
  QueryMode,
  SpaceParams,
  uuid,
} from '../primitives.js'
import { route } from '../route.js'
import { FAILED_QUERY_STATUSES, FAILED_QUERY_VERDICTS } from '../values.js'
import { ExpectedAnswer } from './golden-questions.js'

export const FailedQueryStatus = z.enum(FAILED_QUERY_STATUSES)
export type FailedQueryStatus = z.output<typeof FailedQueryStatus>

export const FailedQueryTrigger = z.enum(['no-retrieval-evidence', 'low-confidence', 'abstained'])
export type FailedQueryTrigger = z.output<typeof FailedQueryTrigger>

/** Decisions of a person. */
export const FailedQueryVerdict = z.enum(FAILED_QUERY_VERDICTS)
export type FailedQueryVerdict = z.output<typeof FailedQueryVerdict>

export const FailedQuery = z
  .strictObject({
    id: uuid,
    knowledgeSpaceId: uuid,
    query: z.string(),
    mode: QueryMode,
    trigger: FailedQueryTrigger,
    status: FailedQueryStatus,
    metadata,
    answerTraceId: uuid.optional(),
    createdAt: isoDateTime,
    updatedAt: isoDateTime,
  })
  .meta({ id: 'FailedQuery' })
export type FailedQuery = z.output<typeof FailedQuery>

export const FailedQueryMetrics = z
  .strictObject({
    total: count,
    /** Promoted queries as a fraction of all, 0 to 1. */
    promotionRate: z.number(),
    byStatus: z.strictObject({
      'pending-triage': count,
      triaged: count,
      'pending-annotation': count,
      annotated: count,
      dismissed: count,
      promoted: count,
    }),
  })
  .meta({ id: 'FailedQueryMetrics' })
export type FailedQueryMetrics = z.output<typeof FailedQueryMetrics>

export const FailedQueryClusters = z
  .strictObject({
    clusters: z.array(
      z.strictObject({
        clusterKey: z.string(),
        /** Number of queries in the cluster. */
        count: positive,
        failedQueryIds: z.array(uuid),
        representative: FailedQuery,
      }),
    ),
  })
  .meta({ id: 'FailedQueryClusters' })
export type FailedQueryClusters = z.output<typeof FailedQueryClusters>

export const TriageReport = z
  .strictObject({
    triaged: count,
    verdicts: z.strictObject({ 'retrieval-miss': count, 'coverage-gap': count, irrelevant: count, uncertain: count }),
  })
  .meta({ id: 'TriageReport' })
export type TriageReport = z.output<typeof TriageReport>

export const VerdictBody = z.strictObject({
  verdict: FailedQueryVerdict,
  expectedEvidenceIds: z.array(uuid).max(LIMITS.verdictEvidenceIds).optional(),
  expect: ExpectedAnswer.optional(),
  note: z.string().max(LIMITS.failedQueryNote).optional(),
})
export type VerdictBody = z.output<typeof VerdictBody>

export const FailedQueriesQuery = z.strictObject({
  cursor: opaqueCursor.optional(),
  limit: boundedLimit(LIMITS.failedQueriesPage),
  status: FailedQueryStatus.optional(),
})
export type FailedQueriesQuery = z.output<typeof FailedQueriesQuery>

export const ClustersQuery = z.strictObject({
  limit: boundedLimit(LIMITS.failedClusters),
  status: FailedQueryStatus.optional(),
})
export type ClustersQuery = z.output<typeof ClustersQuery>

export const failedRoutes = [
  route({
    id: 'decideFailedQuery',
    method: 'PATCH',
    path: '/knowledge-spaces/{id}/failed-queries/{failedQueryId}',
    scope: 'write',
    summary: 'Set the verdict on a failed query; retrieval-miss creates a golden question from it.',
    params: z.strictObject({ id: uuid, failedQueryId: uuid }),
    body: VerdictBody,
    ok: { 200: FailedQuery },
    errors: [400, 404, 429],
  }),
  route({
    id: 'getFailedQueryMetrics',
    method: 'GET',
    path: '/knowledge-spaces/{id}/failed-queries/metrics',
    scope: 'read',
    summary: 'Count failed queries by status.',
    params: SpaceParams,
    ok: { 200: FailedQueryMetrics },
    errors: [404],
  }),
  route({
    id: 'listFailedQueryClusters',
    method: 'GET',
    path: '/knowledge-spaces/{id}/failed-queries/clusters',
    scope: 'read',
    summary: 'List groups of failed queries with the same meaning, largest first.',
    params: SpaceParams,
    query: ClustersQuery,
    ok: { 200: FailedQueryClusters },
    errors: [400, 404],
  }),
  route({
    id: 'triageFailedQueries',
    method: 'POST',
    path: '/knowledge-spaces/{id}/failed-queries/triage',
    scope: 'write',
    summary:
      'Triage pending failed queries, oldest first, by a wider search of the space and the judgement of its reasoning model.',
    params: SpaceParams,
    query: z.strictObject({ limit: boundedLimit(LIMITS.triageBatch) }),
    ok: { 200: TriageReport },
    errors: [400, 404, 501, 503],
  }),
  route({
    id: 'listFailedQueries',
    method: 'GET',
    path: '/knowledge-spaces/{id}/failed-queries',
    scope: 'read',
    summary: 'List failed queries, newest first.',
    params: SpaceParams,
    query: FailedQueriesQuery,
    ok: { 200: page(FailedQuery) },
    errors: [400, 404],
  }),
] as const
