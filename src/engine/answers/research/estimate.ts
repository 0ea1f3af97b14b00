import type {
  PlanResearchBody,
  ResearchLimits,
  ResearchTaskDryRunPlan,
  ResearchViolation,
} from '../../../contract/gateway/research.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { ModelPrice } from '../../../local/model-prices.js'
import type { EngineContext } from '../../library/index.js'
import { isBuiltin } from '../../models/index.js'
import { type AdmittedQuery, buildPlan, type ModeRoute } from '../../retrieval/index.js'
import type { Read } from '../../store/program.js'
import { roundUsd } from '../rows/research/costs.js'
import { loadHistory, type TaskHistory } from './history.js'
import { LIMIT_NAMES } from './limits.js'
import { estimatePlanTokens, PLAN_TOKENS } from './plan-questions.js'
import { computeCostUsd, getPrice } from './prices.js'
import { listSubQuestions } from './questions.js'
import { SECTION_TOKENS } from './report.js'

/** Raised when tasks run in another way, so that earlier estimates are not comparable. */
const STRATEGY_VERSION_PREFIX = 'research-task-1'
/** Basis of the estimate, appended after a `+` like build metadata. */
const BASIS = { space: 'measured-space', tenant: 'measured-tenant', none: 'assumed' } as const
/** Average tokens that a model reads and writes for one section; at most it reads a full window (`buildPrompt`). */
const AVERAGE_INPUT_TOKENS = 2500
const AVERAGE_OUTPUT_TOKENS = 250
/** A model at the speed of a small server that is sometimes busy. */
const MODEL_CALL_MS = { p50: 4000, p95: 12_000 }
/** Lower bound of an estimate, as a fraction. */
const MIN_ESTIMATE_FRACTION = 0.5

type TokenCounts = { input: number; output: number }

/** Estimates what a task would take, from the measurements of earlier tasks. */
export function* estimatePlan(
  context: EngineContext,
  admitted: AdmittedQuery,
  route: ModeRoute,
  body: PlanResearchBody,
): Read<ResearchTaskDryRunPlan> {
  const { space, profile } = admitted
  const history = yield* loadHistory(space, route.resolvedMode)
  const parts = listSubQuestions(body.query).length
  const questions = parts > 1 ? parts + 1 : 1
  const model = getModel(context, admitted)
  const price = model?.price
  const tokens = estimateTokenCounts(body.query, parts, history, model?.contextTokens)
  const retrievals = Math.max(questions, Math.round(questions * history.retrievalsPerQuestion))
  const modelCalls = price === undefined ? 0 : parts + 1
  const estimated = computeCost(price, tokens.usual)
  const { budgetUsd } = body
  const modelCallsUnmeasured = history.tokens === undefined ? modelCalls : 0
  return {
    knowledgeSpaceId: space.id,
    query: body.query,
    strategyVersion: `${STRATEGY_VERSION_PREFIX}+${BASIS[history.scope]}`,
    budget: {
      ...omitUndefined({ budgetUsd }),
      exceedsBudget: budgetUsd !== undefined && estimated > budgetUsd,
      ...(budgetUsd === undefined ? {} : { remainingBudgetUsd: roundUsd(Math.max(0, budgetUsd - estimated)) }),
    },
    estimates: {
      costUsd: {
        currency: 'USD',
        estimated,
        min: computeCost(price, tokens.min),
        max: computeCost(price, tokens.max),
      },
      inputTokens: tokens.usual.input,
      outputTokens: tokens.usual.output,
      totalTokens: tokens.usual.input + tokens.usual.output,
      latencyMs: {
        p50: Math.round(history.msPerQuestion.p50 * questions + modelCallsUnmeasured * MODEL_CALL_MS.p50),
        p95: Math.ceil(history.msPerQuestion.p95 * questions + modelCallsUnmeasured * MODEL_CALL_MS.p95),
      },
      retrievalSteps: retrievals,
      scannedResources: Math.round(retrievals * Math.min(profile.topK, history.scannedPerRetrieval)),
      toolCalls: retrievals + modelCalls,
      cacheHitProbability: 0, // results of retrievals are not kept for other tasks
    },
    retrievalPlan: buildPlan({ admitted, query: body.query, route }),
    steps: estimateSteps({ query: body.query, parts, retrievals, history, price, tokens: tokens.usual }),
  }
}

/** Limits that the estimate exceeds. */
export function findViolations(
  { budget, estimates }: ResearchTaskDryRunPlan,
  limits: ResearchLimits,
): ResearchViolation[] {
  const estimated: Record<(typeof LIMIT_NAMES)[number], number> = {
    maxRetrievalSteps: estimates.retrievalSteps,
    maxScannedResources: estimates.scannedResources,
    maxToolCalls: estimates.toolCalls,
    timeoutMs: estimates.latencyMs.p50,
  }
  const found = LIMIT_NAMES.flatMap((limit): ResearchViolation[] => {
    const limitValue = limits[limit]
    const estimatedValue = estimated[limit]
    return limitValue !== undefined && estimatedValue > limitValue ? [{ limit, limitValue, estimatedValue }] : []
  })
  if (budget.exceedsBudget && budget.budgetUsd !== undefined)
    found.push({ limit: 'budgetUsd', limitValue: budget.budgetUsd, estimatedValue: estimates.costUsd.estimated })
  return found
}

/** @returns undefined when the task works with rules */
function getModel(
  { options, models }: EngineContext,
  { profile }: AdmittedQuery,
): { price: ModelPrice; contextTokens: number } | undefined {
  const reference = profile.reasoningModel ?? options.defaultGenerator
  if (isBuiltin(reference) || !models.has(reference, 'generation')) return undefined
  return { price: getPrice(options.providers, reference), contextTokens: models.generator(reference).contextTokens }
}

function computeCost(price: ModelPrice | undefined, tokens: TokenCounts): number {
  return price === undefined ? 0 : computeCostUsd(price, { inputTokens: tokens.input, outputTokens: tokens.output })
}

function estimateTokenCounts(query: string, parts: number, history: TaskHistory, contextTokens: number | undefined) {
  const none = { input: 0, output: 0 }
  if (contextTokens === undefined) return { usual: none, min: none, max: none }
  const plan = estimatePlanTokens(query)
  const max = { input: plan + parts * (contextTokens - SECTION_TOKENS), output: PLAN_TOKENS + parts * SECTION_TOKENS }
  const usual =
    history.tokens === undefined
      ? { input: plan + parts * AVERAGE_INPUT_TOKENS, output: PLAN_TOKENS / 4 + parts * AVERAGE_OUTPUT_TOKENS }
      : { input: Math.round(history.tokens.input * parts), output: Math.round(history.tokens.output * parts) }
  const min = {
    input: Math.round(usual.input * MIN_ESTIMATE_FRACTION),
    output: Math.round(usual.output * MIN_ESTIMATE_FRACTION),
  }
  return {
    usual,
    min,
    max: { input: Math.max(max.input, usual.input), output: Math.max(max.output, usual.output) },
  }
}

function estimateSteps(input: {
  query: string
  parts: number
  retrievals: number
  history: TaskHistory
  price: ModelPrice | undefined
  tokens: TokenCounts
}): ResearchTaskDryRunPlan['steps'] {
  const { query, parts, retrievals, history, price, tokens } = input
  const { stepMs } = history
  const planned =
    price === undefined ? { input: 0, output: 0 } : { input: estimatePlanTokens(query), output: PLAN_TOKENS / 4 }
  const written = {
    input: Math.max(0, tokens.input - planned.input),
    output: Math.max(0, tokens.output - planned.output),
  }
  const one = price === undefined ? 0 : 1
  const step = (
    name: ResearchTaskDryRunPlan['steps'][number]['name'],
    calls: number,
    ms: number,
    used?: TokenCounts,
  ) => ({
    name,
    estimatedInputTokens: used?.input ?? 0,
    estimatedOutputTokens: used?.output ?? 0,
    estimatedToolCalls: calls,
    estimatedLatencyMs: Math.round(ms),
    estimatedCostUsd: used === undefined ? 0 : computeCost(price, used),
  })
  return [
    step('plan', one, stepMs.plan, planned),
    step('retrieve', retrievals, stepMs.retrieve * retrievals),
    step('inspect', 0, stepMs.inspect * parts),
    step('analyze', 0, stepMs.analyze),
    step('generate', one * parts, stepMs.generate * (parts + 1), written),
  ]
}
