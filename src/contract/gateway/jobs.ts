import { z } from 'zod'
import {
  count,
  epochMillis,
  isoDateTime,
  opaqueCursor,
  openLimit,
  page,
  positive,
  SpaceParams,
  uuid,
} from '../primitives.js'
import { route } from '../route.js'
import { JOB_STAGES, JOB_STATES, READING_UNITS } from '../values.js'

export const JobStage = z.enum(JOB_STAGES)
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

/** A job in the list of a space, with the fields that the next command needs. */
export const ListedJob = DocumentCompilationJob.extend({
  filename: z.string(),
  /** Number of failed attempts. */
  attempts: count,
  /** Time of the next attempt while it waits. */
  retryAt: epochMillis.optional(),
  /** Start of the wait for a temporary obstacle: a full disk, an index process that does not start. */
  waitingSince: epochMillis.optional(),
  /** Progress of reading the file, if it takes a while and this daemon reads it. */
  progress: z.strictObject({ unit: z.enum(READING_UNITS), at: positive, total: positive.optional() }).optional(),
}).meta({ id: 'ListedJob' })
export type ListedJob = z.output<typeof ListedJob>

export const RetriedJobs = z
  .strictObject({ bulkJobId: uuid, total: count, jobs: z.array(DocumentCompilationJob) })
  .meta({ id: 'RetriedJobs' })
export type RetriedJobs = z.output<typeof RetriedJobs>

const JobParams = z.strictObject({ id: z.string().min(1) })

export const jobsRoutes = [
  route({
    id: 'getJob',
    method: 'GET',
    path: '/jobs/{id}',
    scope: 'read',
    summary: 'Get a compilation job.',
    params: JobParams,
    ok: { 200: DocumentCompilationJob },
    errors: [404, 503],
  }),
  route({
    id: 'cancelJob',
    method: 'DELETE',
    path: '/jobs/{id}',
    scope: 'write',
    summary: 'Cancel a compilation job that has not finished.',
    params: JobParams,
    ok: { 200: DocumentCompilationJob },
    errors: [404, 409, 503],
  }),
  route({
    id: 'getBulkJob',
    method: 'GET',
    path: '/bulk-jobs/{id}',
    scope: 'read',
    summary: 'Get a bulk job with current counts of its items.',
    params: JobParams,
    ok: { 200: BulkJob },
    errors: [404, 503],
  }),
  route({
    id: 'listJobs',
    method: 'GET',
    path: '/knowledge-spaces/{id}/jobs',
    scope: 'read',
    summary:
      'List the compilation jobs of a space, newest first. `failed`: jobs without a newer successful job; `reading`: jobs whose files are being read.',
    params: SpaceParams,
    query: z.strictObject({ limit: openLimit, cursor: opaqueCursor.optional(), state: z.enum(JOB_STATES).optional() }),
    ok: { 200: page(ListedJob) },
    errors: [400, 404],
    extension: true,
  }),
  route({
    id: 'retryJob',
    method: 'POST',
    path: '/jobs/{id}/retry',
    scope: 'write',
    summary: 'Retry a failed or canceled compilation as a new job; a waiting job continues at once.',
    params: JobParams,
    ok: { 202: DocumentCompilationJob },
    errors: [404, 409],
    extension: true,
  }),
  route({
    id: 'retryFailedJobs',
    method: 'POST',
    path: '/knowledge-spaces/{id}/jobs/retry',
    scope: 'write',
    summary: 'Retry all documents whose last job failed or was canceled, and all missing vectors, at once.',
    params: SpaceParams,
    ok: { 202: RetriedJobs },
    errors: [404, 413],
    extension: true,
  }),
] as const
