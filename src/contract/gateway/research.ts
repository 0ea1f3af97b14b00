import { z } from 'zod'
import { LIMITS } from '../limits.js'
import {
  boundedLimit,
  ConcreteMode,
  count,
  epochMillis,
  isoDateTime,
  metadata,
  opaqueCursor,
  page,
  positive,
  QueryMode,
  requestedMode,
  uuid,
} from '../primitives.js'
import { route } from '../route.js'
import { RESEARCH_STAGES } from '../values.js'
import { Degradation } from './degraded.js'
import { Citation, EvidenceBundle, EvidenceState, RetrievalPlan } from './queries.js'

export const ResearchStage = z.enum(RESEARCH_STAGES)
export type ResearchStage = z.output<typeof ResearchStage>

const money = z.number().min(0)

export const ResearchTaskDryRunPlan = z
  .strictObject({
    knowledgeSpaceId: uuid,
    query: z.string(),
    strategyVersion: z.string(),
    budget: z.strictObject({
      budgetUsd: money.optional(),
      exceedsBudget: z.boolean(),
      remainingBudgetUsd: money.optional(),
    }),
    estimates: z.strictObject({
      costUsd: z.strictObject({ currency: z.literal('USD'), estimated: money, min: money, max: money }),
      inputTokens: count,
      outputTokens: count,
      totalTokens: count,
      latencyMs: z.strictObject({ p50: count, p95: count }),
      retrievalSteps: count,
      scannedResources: count,
      toolCalls: count,
      cacheHitProbability: z.number().min(0).max(1),
    }),
    retrievalPlan: RetrievalPlan,
    steps: z.array(
      z.strictObject({
        name: z.enum(['analyze', 'generate', 'inspect', 'plan', 'retrieve']),
        estimatedInputTokens: count,
        estimatedOutputTokens: count,
        estimatedToolCalls: count,
        estimatedLatencyMs: count,
        estimatedCostUsd: money,
      }),
    ),
  })
  .meta({ id: 'ResearchTaskDryRunPlan' })
export type ResearchTaskDryRunPlan = z.output<typeof ResearchTaskDryRunPlan>

export const ResearchLimits = z.object({
  maxRetrievalSteps: positive.optional(),
  maxScannedResources: positive.optional(),
  maxToolCalls: positive.optional(),
  timeoutMs: positive.optional(),
})
export type ResearchLimits = z.output<typeof ResearchLimits>

export const ResearchTaskJob = z
  .strictObject({
    id: uuid,
    tenantId: z.string(),
    subjectId: z.string(),
    knowledgeSpaceId: uuid,
    queueJobId: z.string(),
    query: z.string(),
    stage: ResearchStage,
    limits: ResearchLimits.optional(),
    budgetUsd: money.optional(),
    cost: z.strictObject({
      totalUsd: money,
      budgetUsd: money.optional(),
      budgetExceeded: z.boolean().optional(),
      entries: z.array(
        z.strictObject({
          step: z.string(),
          provider: z.string(),
          costUsd: money,
          usage: metadata,
          recordedAt: epochMillis,
        }),
      ),
    }),
    error: z.string().optional(),
    createdAt: epochMillis,
    updatedAt: epochMillis,
    completedAt: epochMillis.optional(),
  })
  .meta({ id: 'ResearchTaskJob' })
export type ResearchTaskJob = z.output<typeof ResearchTaskJob>

export const ResearchPartialResult = z
  .strictObject({
    tenantId: z.string(),
    knowledgeSpaceId: uuid,
    researchTaskJobId: uuid,
    sequence: positive,
    evidenceBundle: EvidenceBundle,
  })
  .meta({ id: 'ResearchPartial' })
export type ResearchPartialResult = z.output<typeof ResearchPartialResult>

/** A limit that ended the retrieval of a task. */
export const ReachedResearchLimit = z.strictObject({
  limit: z.enum(['maxRetrievalSteps', 'maxScannedResources', 'maxToolCalls', 'timeoutMs', 'budgetUsd']),
  limitValue: z.number(),
})
export type ReachedResearchLimit = z.output<typeof ReachedResearchLimit>

export const ResearchReport = z
  .strictObject({
    researchTaskId: uuid,
    knowledgeSpaceId: uuid,
    query: z.string(),
    requestedMode: QueryMode,
    resolvedMode: ConcreteMode,
    /** How the mode was chosen, as in the step `query.route` of a trace. */
    route: metadata,
    publicationId: uuid,
    state: EvidenceState,
    generator: z.enum(['model', 'extractive', 'mixed']),
    /** Markdown; `[n]` are the numbers of `sources`. */
    text: z.string(),
    sections: z.array(
      z.strictObject({
        question: z.string(),
        state: EvidenceState,
        /** Absent in reports of older versions. */
        decidedBy: z
          .enum(['model', 'rules'])
          .optional()
          .describe(
            'what decided the state: the language model that answered, or rules; absent in reports of older versions',
          ),
        answer: z.string(),
        cited: z.array(positive),
      }),
    ),
    sources: z.array(z.strictObject({ number: positive, nodeId: uuid, title: z.string(), citation: Citation })),
    open: z.array(z.string()),
    /** Whether a part failed; parts and reasons, one sentence each. */
    degraded: z.boolean(),
    degradedReasons: z.array(z.string()),
    degradedClass: Degradation.shape.class.optional(),
    degradations: z.array(Degradation).optional(),
    stoppedBy: ReachedResearchLimit.optional(),
    evidenceBundleId: uuid,
    createdAt: isoDateTime,
  })
  .meta({ id: 'ResearchReport' })
export type ResearchReport = z.output<typeof ResearchReport>

/** A limit that the estimate exceeds, in the body of a 422. */
export const ResearchViolation = z.strictObject({
  limit: z.string(),
  limitValue: z.number(),
  estimatedValue: z.number(),
})
export type ResearchViolation = z.output<typeof ResearchViolation>

/** The body of the 422 of `POST /research-tasks`. */
export const ResearchLimitsExceeded = z
  .strictObject({ error: z.string(), violations: z.array(ResearchViolation) })
  .meta({ id: 'ResearchLimitsExceeded' })

export const PlanResearchBody = z.strictObject({
  knowledgeSpaceId: uuid,
  query: z.string().min(1).max(LIMITS.queryText),
  mode: requestedMode,
  topK: z.int().min(1).max(LIMITS.topK).optional(),
  budgetUsd: money.optional(),
})
export type PlanResearchBody = z.output<typeof PlanResearchBody>

/** The only JSON body that is not strict: unknown keys are ignored. */
export const CreateResearchBody = z.object({
  ...PlanResearchBody.shape,
  limits: ResearchLimits.optional(),
  metadata: metadata.optional(),
  permissionScope: metadata.optional(),
})
export type CreateResearchBody = z.output<typeof CreateResearchBody>

/** Frames of a task's events; the last frame is one of the last three. */
export const researchEvents = {
  'research.stage': z.strictObject({ researchTaskId: uuid, stage: ResearchStage, at: isoDateTime }),
  'research.partial': z.strictObject({
    sequence: positive,
    evidenceBundleId: uuid,
    state: EvidenceState,
    itemCount: count,
  }),
  'research.cost': z.strictObject({ totalUsd: money, step: z.string() }),
  'research.completed': z.strictObject({ researchTaskId: uuid }),
  'research.failed': z.strictObject({ error: z.string() }),
  'research.canceled': z.strictObject({ researchTaskId: uuid }),
}
export type ResearchEventName = keyof typeof researchEvents
export type ResearchEventData<N extends ResearchEventName> = z.output<(typeof researchEvents)[N]>

const TaskParams = z.strictObject({ id: uuid })
const pageQuery = z.strictObject({ limit: boundedLimit(LIMITS.evidencePage), cursor: opaqueCursor.optional() })

export const researchRoutes = [
  route({
    id: 'planResearchTask',
    method: 'POST',
    path: '/research-tasks/plan',
    scope: 'read',
    summary: 'Estimate the cost and duration of a research task without starting it.',
    body: PlanResearchBody,
    ok: { 200: ResearchTaskDryRunPlan },
    errors: [400, 404, 503],
  }),
  route({
    id: 'createResearchTask',
    method: 'POST',
    path: '/research-tasks',
    scope: 'write',
    summary: 'Start a research task; it runs in the background.',
    body: CreateResearchBody,
    ok: { 201: ResearchTaskJob },
    errors: [400, 404, 409, 422, 429, 503],
  }),
  route({
    id: 'listResearchTasks',
    method: 'GET',
    path: '/research-tasks',
    scope: 'read',
    summary: "List the caller's research tasks, newest first.",
    query: pageQuery.extend({ knowledgeSpaceId: uuid.optional(), stage: ResearchStage.optional() }),
    ok: { 200: page(ResearchTaskJob) },
    errors: [400, 404],
    extension: true,
  }),
  route({
    id: 'getResearchTask',
    method: 'GET',
    path: '/research-tasks/{id}',
    scope: 'read',
    summary: 'Get a research task.',
    params: TaskParams,
    ok: { 200: ResearchTaskJob },
    errors: [404],
  }),
  route({
    id: 'listResearchPartials',
    method: 'GET',
    path: '/research-tasks/{id}/partials',
    scope: 'read',
    summary: 'List the evidence of a research task so far, one bundle for each retrieval.',
    params: TaskParams,
    query: pageQuery,
    ok: { 200: page(ResearchPartialResult) },
    errors: [400, 404],
  }),
  route({
    id: 'streamResearchEvents',
    method: 'GET',
    path: '/research-tasks/{id}/events',
    scope: 'read',
    summary: 'Stream the events of a research task, stored ones first, until it ends or `limit` events were sent.',
    params: TaskParams,
    query: pageQuery,
    ok: { 200: 'event-stream' },
    events: researchEvents,
    errors: [400, 404],
  }),
  route({
    id: 'getResearchReport',
    method: 'GET',
    path: '/research-tasks/{id}/report',
    scope: 'read',
    summary: 'Get the report of a completed research task.',
    params: TaskParams,
    ok: { 200: ResearchReport },
    errors: [404],
    extension: true,
  }),
  route({
    id: 'cancelResearchTask',
    method: 'DELETE',
    path: '/research-tasks/{id}',
    scope: 'write',
    summary: 'Cancel a running research task; its evidence so far is kept.',
    params: TaskParams,
    ok: { 200: ResearchTaskJob },
    errors: [404, 409],
  }),
] as const
