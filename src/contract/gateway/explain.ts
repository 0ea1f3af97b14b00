import { z } from 'zod'
import { LIMITS } from '../limits.js'
import {
  ConcreteMode,
  count,
  isoDateTime,
  metadata,
  positive,
  QueryMode,
  requestedMode,
  SpaceParams,
  uuid,
} from '../primitives.js'
import { route } from '../route.js'

/** Why a document is or is not in the evidence of a query. */
export const ExplainVerdict = z.enum([
  'shown',
  'other-passage-shown',
  'unknown-document',
  'deleted',
  'not-published',
  'compile-failed',
  'out-of-scope',
  'no-text',
  'passage-not-found',
  'index-behind',
  'no-term-in-common',
  'beyond-candidates',
  'beyond-rerank',
  'below-threshold',
  'beyond-top-k',
  'beyond-relevance',
  'copy-shown',
  'not-by-mode',
  'query-failed',
  'unknowable',
])
export type ExplainVerdict = z.output<typeof ExplainVerdict>

export const ExplainStage = z
  .strictObject({
    stage: z.enum([
      'trace',
      'mode',
      'document',
      'publication',
      'scope',
      'text',
      'terms',
      'text-leg',
      'vector-leg',
      'fusion',
      'rerank',
      'threshold',
      'top-k',
      'evidence',
    ]),
    /** `failed`: this stage excluded the document; `missed`: this retrieval path did not return it, another one may. */
    outcome: z.enum(['passed', 'missed', 'failed', 'note']),
    /** Stable name of the finding. */
    reason: z.string(),
    /** The finding as a sentence. */
    text: z.string(),
    /** Ranks, scores, limits and terms of the stage. */
    figures: metadata,
  })
  .meta({ id: 'ExplainStage' })
export type ExplainStage = z.output<typeof ExplainStage>

export const Explanation = z
  .strictObject({
    query: z.string(),
    verdict: ExplainVerdict,
    /** The verdict of the same question asked today, if `verdict` is that of a trace. */
    verdictNow: ExplainVerdict.optional(),
    document: z
      .strictObject({ id: uuid.optional(), filename: z.string().optional(), version: positive.optional() })
      .optional(),
    /** The passage that reached the latest stage. */
    passage: z.strictObject({ nodeId: uuid, sectionPath: z.array(z.string()), text: z.string() }).optional(),
    /** The mode that the stages belong to. */
    mode: ConcreteMode,
    stages: z.array(ExplainStage),
    hint: z.string(),
    trace: z
      .strictObject({
        id: uuid,
        createdAt: isoDateTime,
        mode: QueryMode,
        /** Rank in the recorded evidence, from 1; absent if the document is not in it. */
        rank: positive.optional(),
        headRevisionThen: count.optional(),
        headRevisionNow: count,
        /** Whether a new run returns exactly the recorded evidence, so that the stages also explain the trace. */
        reproduced: z.boolean().optional(),
      })
      .optional(),
  })
  .meta({ id: 'Explanation' })
export type Explanation = z.output<typeof Explanation>

export const ExplainBody = z
  .strictObject({
    query: z.string().min(1).max(LIMITS.queryText).optional(),
    traceId: uuid.optional(),
    documentId: uuid.optional(),
    /** The filename of the document, or its end. */
    path: z.string().min(1).max(LIMITS.filename).optional(),
    mode: requestedMode,
    activeDocumentIds: z.array(uuid).max(LIMITS.activeIds).default([]),
    /** Only passages that contain this text. */
    quote: z.string().min(1).max(LIMITS.grepQuery).optional(),
  })
  .refine(
    (body) => (body.query === undefined) !== (body.traceId === undefined),
    'exactly one of query or traceId must be given',
  )
  .refine(
    (body) => (body.documentId === undefined) !== (body.path === undefined),
    'exactly one of documentId or path must be given',
  )
export type ExplainBody = z.output<typeof ExplainBody>

export const explainRoutes = [
  route({
    id: 'explainQuery',
    method: 'POST',
    path: '/knowledge-spaces/{id}/queries/explain',
    scope: 'read',
    summary: 'Explain, stage by stage, why a document is or is not in the evidence of a query.',
    params: SpaceParams,
    body: ExplainBody,
    ok: { 200: Explanation },
    errors: [400, 404, 409, 429, 503],
    extension: true,
  }),
] as const
