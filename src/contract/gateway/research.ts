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

export const ResearchPartial = z
  .strictObject({
    tenantId: z.string(),
    knowledgeSpaceId: uuid,
    researchTaskJobId: uuid,
    sequence: positive,
    evidenceBundle: EvidenceBundle,
  })
  .meta({ id: 'ResearchPartial' })
export type ResearchPartial = z.output<typeof ResearchPartial>

/** One of the limits that ended the gathering of a task. */
export const ResearchStop = z.strictObject({
  limit: z.enum(['maxRetrievalSteps', 'maxScannedResources', 'maxToolCalls', 'timeoutMs', 'budgetUsd']),
  limitValue: z.number(),
})
export type ResearchStop = z.output<typeof ResearchStop>

export const ResearchReport = z
  .strictObject({
    researchTaskId: uuid,
    knowledgeSpaceId: uuid,
    query: z.string(),
    requestedMode: QueryMode,
    resolvedMode: ConcreteMode,
    /** how the mode was decided, as the step `query.route` of a trace says it */
    route: metadata,
    publicationId: uuid,
    state: EvidenceState,
    generator: z.enum(['model', 'extractive', 'mixed']),
    /** markdown; `[n]` are the numbers of `sources` */
    text: z.string(),
    sections: z.array(
      z.strictObject({
        question: z.string(),
        state: EvidenceState,
        /** who decided the state; reports of older versions do not say */
        decidedBy: z
          .enum(['model', 'rules'])
          .optional()
          .describe('who decided the state: the reasoning model that was given the evidence, or rules'),
        answer: z.string(),
        cited: z.array(positive),
      }),
    ),
    sources: z.array(z.strictObject({ number: positive, nodeId: uuid, title: z.string(), citation: Citation })),
    open: z.array(z.string()),
    /** whether it had to do without something; what and why, a sentence each */
    degraded: z.boolean(),
    degradedReasons: z.array(z.string()),
    degradedClass: Degradation.shape.class.optional(),
    degradations: z.array(Degradation).optional(),
    stoppedBy: ResearchStop.optional(),
    evidenceBundleId: uuid,
    createdAt: isoDateTime,
  })
  .meta({ id: 'ResearchReport' })
export type ResearchReport = z.output<typeof ResearchReport>

/** The body of a 422: which limits the estimate exceeds. */
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
  mode: QueryMode.optional(),
  topK: z.int().min(1).max(LIMITS.topK).optional(),
  budgetUsd: money.optional(),
})
export type PlanResearchBody = z.output<typeof PlanResearchBody>

/** The one JSON body that is not strict: what it does not know is passed over. */
export const CreateResearchBody = z.object({
  ...PlanResearchBody.shape,
  limits: ResearchLimits.optional(),
  metadata: metadata.optional(),
  permissionScope: metadata.optional(),
})
export type CreateResearchBody = z.output<typeof CreateResearchBody>

/** Frames of a task's events; the last one is one of the three last. */
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
    summary: 'Estimate what a research task would take, without starting it.',
    body: PlanResearchBody,
    ok: { 200: ResearchTaskDryRunPlan },
    errors: [400, 404, 503],
  }),
  route({
    id: 'createResearchTask',
    method: 'POST',
    path: '/research-tasks',
    scope: 'write',
    summary: 'Start a research task; it goes on in the background.',
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
    summary: 'Read a research task.',
    params: TaskParams,
    ok: { 200: ResearchTaskJob },
    errors: [404],
  }),
  route({
    id: 'listResearchPartials',
    method: 'GET',
    path: '/research-tasks/{id}/partials',
    scope: 'read',
    summary: 'List the evidence that a research task has found so far, a bundle for each retrieval.',
    params: TaskParams,
    query: pageQuery,
    ok: { 200: page(ResearchPartial) },
    errors: [400, 404],
  }),
  route({
    id: 'streamResearchEvents',
    method: 'GET',
    path: '/research-tasks/{id}/events',
    scope: 'read',
    summary: 'Follow a research task: stored events first, then live ones, until it ends or `limit` events were sent.',
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
    summary: 'Read the report of a research task that is completed.',
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
    summary: 'Cancel a research task that has not ended; what it found is kept.',
    params: TaskParams,
    ok: { 200: ResearchTaskJob },
    errors: [404, 409],
  }),
] as const
