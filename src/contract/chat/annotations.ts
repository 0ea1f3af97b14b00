import { z } from 'zod'
import { count, queryInt, uuid } from '../primitives.js'
import { route } from '../route.js'
import { CHAT_LIMITS } from './limits.js'
import { chatLimit } from './messages.js'

const text = z.string().min(1).max(CHAT_LIMITS.longText)

export const ChatAnnotationBody = z.object({ question: text, answer: text }).meta({ id: 'ChatAnnotationRequest' })
export type ChatAnnotationBody = z.output<typeof ChatAnnotationBody>

export const Annotation = z
  .strictObject({
    id: uuid,
    question: z.string(),
    answer: z.string(),
    hit_count: count,
    /** Seconds since the epoch. */
    created_at: z.int().min(0),
  })
  .meta({ id: 'ChatAnnotation' })
export type Annotation = z.output<typeof Annotation>

export const AnnotationsQuery = z.object({
  page: queryInt({ min: 1 }).default(1),
  limit: chatLimit(CHAT_LIMITS.page),
  keyword: z.string().max(CHAT_LIMITS.longText).optional(),
})
export type AnnotationsQuery = z.output<typeof AnnotationsQuery>

export const AnnotationList = z
  .strictObject({
    data: z.array(Annotation),
    has_more: z.boolean(),
    limit: count,
    total: count,
    page: z.int().min(1),
  })
  .meta({ id: 'ChatAnnotationList' })
export type AnnotationList = z.output<typeof AnnotationList>

/** Disabling takes any body, or none; enabling requires the threshold. */
export const AnnotationReplyBody = z
  .object({
    /** Minimum similarity of questions, 0 to 1. */
    score_threshold: z.number().min(0).max(1).optional(),
    embedding_provider_name: z.string().optional(),
    embedding_model_name: z.string().optional(),
  })
  .meta({ id: 'ChatAnnotationReplyRequest' })
export type AnnotationReplyBody = z.output<typeof AnnotationReplyBody>

const jobStatus = z.enum(['waiting', 'processing', 'completed', 'error'])

export const AnnotationJob = z.strictObject({ job_id: uuid, job_status: jobStatus }).meta({ id: 'ChatAnnotationJob' })
export type AnnotationJob = z.output<typeof AnnotationJob>

export const AnnotationJobStatus = z
  .strictObject({ job_id: uuid, job_status: jobStatus, error_msg: z.string() })
  .meta({ id: 'ChatAnnotationJobStatus' })
export type AnnotationJobStatus = z.output<typeof AnnotationJobStatus>

const Params = z.object({ annotation_id: uuid })

export const annotationRoutes = [
  route({
    id: 'listAnnotations',
    method: 'GET',
    path: '/v1/apps/annotations',
    scope: 'application',
    summary: 'List questions with fixed answers, newest first.',
    query: AnnotationsQuery,
    ok: { 200: AnnotationList },
    errors: [400],
  }),
  route({
    id: 'createAnnotation',
    method: 'POST',
    path: '/v1/apps/annotations',
    scope: 'application',
    summary: 'Create a fixed answer to a question.',
    body: ChatAnnotationBody,
    ok: { 200: Annotation },
    errors: [400, 429],
  }),
  route({
    id: 'updateAnnotation',
    method: 'PUT',
    path: '/v1/apps/annotations/{annotation_id}',
    scope: 'application',
    summary: 'Update the question and answer; keeps the hit count and creation time.',
    params: Params,
    body: ChatAnnotationBody,
    ok: { 200: Annotation },
    errors: [400, 404],
  }),
  route({
    id: 'deleteAnnotation',
    method: 'DELETE',
    path: '/v1/apps/annotations/{annotation_id}',
    scope: 'application',
    summary: 'Delete an annotation.',
    params: Params,
    ok: { 204: 'empty' },
    errors: [400, 404],
  }),
  route({
    id: 'setAnnotationReply',
    method: 'POST',
    path: '/v1/apps/annotation-reply/{action}',
    scope: 'application',
    summary: 'Start a job that enables or disables annotation replies.',
    params: z.object({ action: z.enum(['enable', 'disable']) }),
    body: AnnotationReplyBody,
    ok: { 200: AnnotationJob },
    errors: [400],
  }),
  route({
    id: 'getAnnotationReplyJob',
    method: 'GET',
    path: '/v1/apps/annotation-reply/{action}/status/{job_id}',
    scope: 'application',
    summary: 'Get the status of a job that enables or disables annotation replies.',
    params: z.object({ action: z.string(), job_id: z.string().toLowerCase() }),
    ok: { 200: AnnotationJobStatus },
    errors: [400],
  }),
] as const
