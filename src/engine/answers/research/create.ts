import { KsError } from '../../../contract/errors.js'
import type { QueryBody } from '../../../contract/gateway/queries.js'
import type {
  CreateResearchBody,
  PlanResearchBody,
  ResearchTaskDryRunPlan,
  ResearchTaskJob,
  ResearchViolation,
} from '../../../contract/gateway/research.js'
import { newId } from '../../../lib/ids.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Caller } from '../../base/caller.js'
import { assertTraceQuota, type EngineContext, getQuotas } from '../../library/index.js'
import { type Admission, type AdmittedQuery, admit, type ModeRoute, resolveMode } from '../../retrieval/index.js'
import type { Read, Write } from '../../store/program.js'
import { countOpenTasks, insertTask } from '../../store/rows/research/tasks.js'
import { findSpace, type SpaceRow } from '../../store/rows/spaces.js'
import { writeReply } from '../../store/write-reply.js'
import { insertTaskCost } from '../rows/research/costs.js'
import { estimatePlan, findViolations } from './estimate.js'
import { computeCostUsd, getPrice } from './prices.js'
import { loadJob } from './read.js'

interface PreparedTask {
  admitted: AdmittedQuery
  route: ModeRoute
  plan: ResearchTaskDryRunPlan
}

/** Estimates what a task would take. Writes nothing. */
export async function planTask(
  context: EngineContext,
  caller: Caller,
  body: PlanResearchBody,
): Promise<ResearchTaskDryRunPlan> {
  const admitted = await context.db.read(admitTask(context, caller, body))
  return (await prepareTask(context, admitted, body)).plan
}

/** Creates a task. Its publication, profile and mode are decided now and never change. */
export async function createTask(
  context: EngineContext,
  caller: Caller,
  body: CreateResearchBody,
): Promise<ResearchTaskJob> {
  const { db } = context
  const admitted = await db.read(admitWithCapacity(context, caller, body))
  const prepared = await prepareTask(context, admitted, body)
  const violations = findViolations(prepared.plan, body.limits ?? {})
  if (violations.length > 0) throw toLimitsError(violations)
  return writeReply(db, caller, function* () {
    // the router may have taken seconds
    const space = yield* findSpace(caller.tenant, body.knowledgeSpaceId)
    yield* assertTaskQuota(context, space)
    const id = yield* writeTask(context, caller, body, prepared)
    return yield* loadJob(caller, id)
  })
}

/** @throws KsError `not-found`, `profile-mode-mismatch`, `unavailable` when a provider of the space is missing */
function* admitTask(context: EngineContext, caller: Caller, body: PlanResearchBody): Read<Admission> {
  yield* findSpace(caller.tenant, body.knowledgeSpaceId) // a space that is being deleted counts as missing
  const admitted = yield* admit(context, caller, toQueryBody(body))
  return { ...admitted, profile: { ...admitted.profile, topK: body.topK ?? admitted.profile.topK } }
}

/** Like `admitTask`, and checks that the space has capacity for the task and its traces. */
function* admitWithCapacity(context: EngineContext, caller: Caller, body: CreateResearchBody): Read<AdmittedQuery> {
  const admitted = yield* admitTask(context, caller, body)
  assertTraceQuota(context, admitted.space, admitted.traceBytes)
  yield* assertTaskQuota(context, admitted.space)
  return admitted
}

/** Decides the mode, which calls the reasoning model only for an explicit `auto`, and estimates. */
async function prepareTask(
  context: EngineContext,
  admitted: AdmittedQuery,
  body: PlanResearchBody,
): Promise<PreparedTask> {
  const route = await resolveMode(context, admitted, toQueryBody(body), new AbortController().signal)
  return { admitted, route, plan: await context.db.read(estimatePlan(context, admitted, route, body)) }
}

/** A task's question in the form of a query. */
function toQueryBody({ knowledgeSpaceId, query, mode }: PlanResearchBody): QueryBody {
  return {
    knowledgeSpaceId,
    query,
    activeDocumentIds: [],
    activeEntityIds: [],
    ...omitUndefined({ mode }),
  }
}

function toLimitsError(violations: ResearchViolation[]): KsError {
  const all = violations.map(
    ({ limit, limitValue, estimatedValue }) => `${limit} is ${limitValue}, the estimate ${estimatedValue}`,
  )
  return new KsError('research-limits-exceeded', `the task would exceed its limits: ${all.join('; ')}`, {
    details: { violations },
  })
}

/** @throws KsError `capacity-exceeded` when the space has as many jobs as its quota allows */
function* assertTaskQuota(context: EngineContext, space: SpaceRow): Read<void> {
  const { maxActiveJobCount } = getQuotas(context, space)
  const open = yield* countOpenTasks(space.key)
  if (open >= maxActiveJobCount)
    throw new KsError(
      'capacity-exceeded',
      `the space has ${open} research tasks that have not ended, its quota maxActiveJobCount is ${maxActiveJobCount}`,
    )
}

function* writeTask(
  { options, now }: EngineContext,
  caller: Caller,
  body: CreateResearchBody,
  { admitted, route }: PreparedTask,
): Write<string> {
  const id = newId()
  const createdAt = now()
  const json = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value))
  yield* insertTask({
    id,
    tenant: caller.tenant,
    subject: caller.subject,
    space_key: admitted.space.key,
    queue_id: newId(),
    query: body.query,
    mode: route.resolvedMode,
    route: JSON.stringify(route),
    snapshot: JSON.stringify(admitted.snapshot),
    profile: JSON.stringify(admitted.profile),
    limits: json(body.limits),
    budget_usd: body.budgetUsd ?? null,
    metadata: json(body.metadata),
    permission_scope: json(body.permissionScope),
    created_at: createdAt,
  })
  const { usage, reasoningModel } = route
  if (usage !== undefined && reasoningModel !== undefined) {
    const tokens = { inputTokens: usage.inputTokens ?? 0, outputTokens: usage.outputTokens ?? 0 }
    const cost = computeCostUsd(getPrice(options.providers, reasoningModel), tokens)
    const { provider, model } = reasoningModel
    yield* insertTaskCost(
      { tenant: caller.tenant, id },
      'plan',
      { provider, model, ...tokens, costUsd: cost },
      createdAt,
    )
  }
  return id
}
