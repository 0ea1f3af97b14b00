import { z } from 'zod'
import { count, epochMillis, isoDateTime, positive, uuid } from '../primitives.js'
import { route } from '../route.js'

export const JobStage = z.enum([
  'queued',
  'parsed',
  'outline_built',
  'nodes_generated',
  'projection_built',
  'smoke_eval_passed',
  'published',
  'failed',
  'canceled',
])
export type JobStage = z.output<typeof JobStage>

export const DocumentCompilationJob = z
  .strictObject({
    id: z.string(),
    knowledgeSpaceId: uuid,
    tenantId: z.string(),
    documentAssetId: uuid,
    queueJobId: z.string(),
    stage: JobStage,
    version: positive,
    error: z.string().optional(),
    createdAt: epochMillis,
    updatedAt: epochMillis,
    completedAt: epochMillis.optional(),
  })
  .meta({ id: 'DocumentCompilationJob' })
export type DocumentCompilationJob = z.output<typeof DocumentCompilationJob>

export const BulkJob = z
  .strictObject({
    id: uuid,
    knowledgeSpaceId: uuid,
    type: z.enum(['document_upload', 'document_delete', 'document_reindex']),
    status: z.enum(['running', 'completed', 'failed']),
    totalItems: count,
    completedItems: count,
    failedItems: count,
    failedItemIds: z.array(z.string()),
    createdAt: isoDateTime,
    updatedAt: isoDateTime,
  })
  .meta({ id: 'BulkJob' })
export type BulkJob = z.output<typeof BulkJob>

const JobParams = z.strictObject({ id: z.string().min(1) })

export const jobsRoutes = [
  route({
    id: 'getJob',
    method: 'GET',
    path: '/jobs/{id}',
    scope: 'read',
    summary: 'Read a compilation job.',
    params: JobParams,
    ok: { 200: DocumentCompilationJob },
    errors: [404, 503],
  }),
  route({
    id: 'cancelJob',
    method: 'DELETE',
    path: '/jobs/{id}',
    scope: 'write',
    summary: 'Cancel a compilation job that has not ended.',
    params: JobParams,
    ok: { 200: DocumentCompilationJob },
    errors: [404, 409, 503],
  }),
  route({
    id: 'getBulkJob',
    method: 'GET',
    path: '/bulk-jobs/{id}',
    scope: 'read',
    summary: 'Read a bulk job; its counts are those of its items now.',
    params: JobParams,
    ok: { 200: BulkJob },
    errors: [404, 503],
  }),
] as const
