import { KsError } from '../../contract/errors.js'
import type { QueryBody } from '../../contract/gateway/queries.js'
import type {
  CreateResearchBody,
  PlanResearchBody,
  ResearchTaskDryRunPlan,
  ResearchTaskJob,
  ResearchViolation,
} from '../../contract/gateway/research.js'
import { defined } from '../../lib/defined.js'
import { newId } from '../../lib/ids.js'
import type { Caller } from '../base/caller.js'
import type { EngineContext } from '../context.js'
import { type Admitted, admit } from '../query/admission.js'
import { type Route, resolveMode } from '../query/mode.js'
import { findSpace, type SpaceRow } from '../rows/spaces.js'
import { assertRoomForTraces, quotasOf } from '../spaces/quota.js'
import { type Read, sql, type Write } from '../storage/program.js'
import { writeAnswer } from '../storage/write-answer.js'
import { estimatePlan, violationsOf } from './estimate.js'
import { costUsd, priceOf } from './prices.js'
import { writeCost } from './step-store.js'
import { appendEvent, findTask, toResearchJob } from './store.js'

interface Prepared {
  admitted: Admitted
  route: Route
  plan: ResearchTaskDryRunPlan
}

/** What a task would take. Nothing is written. */
export async function planTask(
  context: EngineContext,
  caller: Caller,
  body: PlanResearchBody,
): Promise<ResearchTaskDryRunPlan> {
  const admitted = context.db.now(admitTask(context, caller, body))
  return (await prepare(context, admitted, body)).plan
}

/** Admits a task: publication, profile and mode are decided now, once, and stay. */
export async function createTask(
  context: EngineContext,
  caller: Caller,
  body: CreateResearchBody,
): Promise<ResearchTaskJob> {
  const { db } = context
  const admitted = context.db.now(admitTask(context, caller, body))
  context.db.now(assertRoomForTraces(context, admitted.space))
  context.db.now(assertRoomForTask(context, admitted.space))
  const prepared = await prepare(context, admitted, body)
  const violations = violationsOf(prepared.plan, body.limits ?? {})
  if (violations.length > 0) throw limitsExceeded(violations)
  return writeAnswer(db, caller, function* () {
    // the router may have taken seconds
    const space = yield* findSpace(caller.tenant, body.knowledgeSpaceId)
    yield* assertRoomForTask(context, space)
    const id = yield* insertTask(context, caller, body, prepared)
    return yield* toResearchJob(yield* findTask(caller, id))
  })
}

/** @throws KsError `not-found`, `profile-mode-mismatch`, `unavailable` where a provider of the space is not there */
function* admitTask(context: EngineContext, caller: Caller, body: PlanResearchBody): Read<Admitted> {
  yield* findSpace(caller.tenant, body.knowledgeSpaceId) // one that is being deleted is gone
  const admitted = yield* admit(context, caller, questionOf(body))
  return { ...admitted, profile: { ...admitted.profile, topK: body.topK ?? admitted.profile.topK } }
}

/** Decides the mode, which asks the reasoning model for an explicit `auto` only, and estimates. */
async function prepare(context: EngineContext, admitted: Admitted, body: PlanResearchBody): Promise<Prepared> {
  const { space, profile } = admitted
  const route = await resolveMode(context, space, profile, questionOf(body), new AbortController().signal)
  return { admitted, route, plan: context.db.now(estimatePlan(context, admitted, route, body)) }
}

/** A task's question as queries are asked. */
function questionOf({ knowledgeSpaceId, query, mode }: PlanResearchBody): QueryBody {
  return {
    knowledgeSpaceId,
    query,
    activeDocumentIds: [],
    activeEntityIds: [],
    ...defined({ mode }),
  }
}

function limitsExceeded(violations: ResearchViolation[]): KsError {
  const all = violations.map(
    ({ limit, limitValue, estimatedValue }) => `${limit} is ${limitValue}, the estimate ${estimatedValue}`,
  )
  return new KsError('research-limits-exceeded', `the task would exceed its limits: ${all.join('; ')}`, {
    details: { violations },
  })
}

/** @throws KsError `capacity-exceeded` when the space has as many jobs as its quota allows */
function* assertRoomForTask(context: EngineContext, space: SpaceRow): Read<void> {
  const { maxActiveJobCount } = quotasOf(context, space)
  const open = yield* openTasks(space.key)
  if (open >= maxActiveJobCount)
    throw new KsError(
      'capacity-exceeded',
      `the space has ${open} research tasks that have not ended, its quota maxActiveJobCount is ${maxActiveJobCount}`,
    )
}

function* openTasks(spaceKey: number): Read<number> {
  const text = 'SELECT count(*) n FROM research_tasks WHERE space_key = ? AND completed_at IS NULL'
  return (yield* sql.get<{ n: number }>(text, [spaceKey]))?.n ?? 0
}

function* insertTask(
  { options, now }: EngineContext,
  caller: Caller,
  body: CreateResearchBody,
  { admitted, route }: Prepared,
): Write<string> {
  const id = newId()
  const at = now()
  const json = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value))
  yield* sql.run(
    `INSERT INTO research_tasks (id, tenant, subject, space_key, queue_id, query, mode, route, snapshot, profile, limits,
       budget_usd, metadata, permission_scope, stage, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?)`,
    [
      id,
      caller.tenant,
      caller.subject,
      admitted.space.key,
      newId(),
      body.query,
      route.resolvedMode,
      JSON.stringify(route),
      JSON.stringify(admitted.snapshot),
      JSON.stringify(admitted.profile),
      json(body.limits),
      body.budgetUsd ?? null,
      json(body.metadata),
      json(body.permissionScope),
      at,
      at,
    ],
  )
  yield* appendEvent(id, 'research.stage', { researchTaskId: id, stage: 'queued', at: new Date(at).toISOString() })
  const { usage, reasoningModel } = route
  if (usage !== undefined && reasoningModel !== undefined) {
    const tokens = { inputTokens: usage.inputTokens ?? 0, outputTokens: usage.outputTokens ?? 0 }
    const cost = costUsd(priceOf(options.providers, reasoningModel), tokens)
    const { provider, model } = reasoningModel
    yield* writeCost(id, 'plan', { provider, model, ...tokens, costUsd: cost }, at)
  }
  return id
}
