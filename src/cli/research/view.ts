import type { ResearchTaskDryRunPlan } from '../../contract/gateway/research.js'
import { pluralize } from '../../lib/text/pluralize.js'
import type { OutputColumn } from '../columns.js'
import { formatDuration } from '../units.js'

export const TASK_COLUMNS: OutputColumn[] = [
  { field: 'id', kind: 'id' },
  { field: 'stage', kind: 'state' },
  { field: 'query' },
  { field: 'cost.totalUsd', title: 'COST USD' },
  { field: 'createdAt', title: 'STARTED', kind: 'epoch' },
  { field: 'completedAt', title: 'ENDED', kind: 'epoch' },
]
export const TASK_RECORD: OutputColumn[] = [
  ...TASK_COLUMNS,
  { field: 'budgetUsd', title: 'BUDGET USD' },
  { field: 'cost.budgetExceeded', title: 'OVER BUDGET' },
  { field: 'limits' },
  { field: 'error' },
]

export const STEP_COLUMNS: OutputColumn[] = [
  { field: 'name', title: 'STEP' },
  { field: 'estimatedToolCalls', title: 'CALLS', kind: 'count' },
  { field: 'estimatedLatencyMs', title: 'MS', kind: 'count' },
  { field: 'estimatedInputTokens', title: 'TOKENS IN', kind: 'count' },
  { field: 'estimatedOutputTokens', title: 'TOKENS OUT', kind: 'count' },
  { field: 'estimatedCostUsd', title: 'USD' },
]

const ESTIMATE_BASES: Readonly<Record<string, string>> = {
  'measured-space': 'measured on tasks of this space',
  'measured-tenant': 'measured on tasks of other spaces',
  assumed: 'assumed: no measured tasks yet',
}

/** Formats the estimates of a plan, printed above its steps. */
export function formatPlan({ estimates, retrievalPlan, strategyVersion, budget }: ResearchTaskDryRunPlan): string[] {
  const { latencyMs, costUsd, retrievalSteps, scannedResources, toolCalls } = estimates
  const { requestedMode, resolvedMode } = retrievalPlan
  const mode = requestedMode === resolvedMode ? resolvedMode : `${requestedMode}, that is ${resolvedMode}`
  const basis = ESTIMATE_BASES[strategyVersion.split('+')[1] ?? ''] ?? strategyVersion
  return [
    `mode ${mode}, ${pluralize(retrievalSteps, 'retrieval')}, ${pluralize(scannedResources, 'passage')}, ${pluralize(toolCalls, 'tool call')}`,
    `about ${formatDuration(latencyMs.p50)}, at most ${formatDuration(latencyMs.p95)} in 19 of 20 tasks (${basis})`,
    `about $${costUsd.estimated} (from $${costUsd.min} to $${costUsd.max})`,
    ...(budget.exceedsBudget ? [`over the budget of $${budget.budgetUsd}: the task would be refused`] : []),
  ]
}
