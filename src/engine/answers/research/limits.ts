import type { ResearchLimits } from '../../../contract/gateway/research.js'

export const LIMIT_NAMES = ['maxRetrievalSteps', 'maxScannedResources', 'maxToolCalls', 'timeoutMs'] as const
type LimitName = (typeof LIMIT_NAMES)[number]

/** Limits of a task, with defaults for those that its creator did not set. */
export interface TaskLimits extends Record<LimitName, number> {
  /** active time after which retrieval ends, so that time remains to close the task */
  gatherMs: number
}

/** Enough for nine questions with two leads each, and a model call for every question. */
const DEFAULT_LIMITS: Record<LimitName, number> = {
  maxRetrievalSteps: 32,
  maxScannedResources: 1000,
  maxToolCalls: 64,
  timeoutMs: 600_000,
}
/** Part of a task's time that is reserved for closing it, as a fraction with a maximum. */
const CLOSING_FRACTION = 0.2
const MAX_CLOSING_MS = 30_000

export function resolveLimits(given: ResearchLimits): TaskLimits {
  const getLimit = (name: LimitName): number => given[name] ?? DEFAULT_LIMITS[name]
  const timeoutMs = getLimit('timeoutMs')
  return {
    maxRetrievalSteps: getLimit('maxRetrievalSteps'),
    maxScannedResources: getLimit('maxScannedResources'),
    maxToolCalls: getLimit('maxToolCalls'),
    timeoutMs,
    gatherMs: timeoutMs - Math.min(timeoutMs * CLOSING_FRACTION, MAX_CLOSING_MS),
  }
}
