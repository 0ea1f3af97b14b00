import type { ResearchLimits } from '../../contract/gateway/research.js'

export const LIMIT_NAMES = ['maxRetrievalSteps', 'maxScannedResources', 'maxToolCalls', 'timeoutMs'] as const
type LimitName = (typeof LIMIT_NAMES)[number]

/** Limits of a task, with defaults for those that its creator did not set. */
export interface TaskLimits extends Record<LimitName, number> {
  /** active time after which retrieval ends, so that time remains to close the task */
  gatherMs: number
}

/** Enough for nine questions with two leads each, and a model call for every question. */
const DEFAULTS: Record<LimitName, number> = {
  maxRetrievalSteps: 32,
  maxScannedResources: 1000,
  maxToolCalls: 64,
  timeoutMs: 600_000,
}
/** Part of a task's time that is reserved for closing it, as a fraction with a maximum. */
const CLOSING_SHARE = 0.2
const CLOSING_MOST_MS = 30_000

export function limitsOf(given: ResearchLimits): TaskLimits {
  const of = (name: LimitName): number => given[name] ?? DEFAULTS[name]
  const timeoutMs = of('timeoutMs')
  return {
    maxRetrievalSteps: of('maxRetrievalSteps'),
    maxScannedResources: of('maxScannedResources'),
    maxToolCalls: of('maxToolCalls'),
    timeoutMs,
    gatherMs: timeoutMs - Math.min(timeoutMs * CLOSING_SHARE, CLOSING_MOST_MS),
  }
}
