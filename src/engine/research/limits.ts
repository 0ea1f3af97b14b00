import type { ResearchLimits } from '../../contract/gateway/research.js'

export const LIMIT_NAMES = ['maxRetrievalSteps', 'maxScannedResources', 'maxToolCalls', 'timeoutMs'] as const
type LimitName = (typeof LIMIT_NAMES)[number]

/** The limits of a task with those that hold where its creator set none. */
export interface TaskLimits extends Record<LimitName, number> {
  /** time at work after which nothing more is looked for, so that there is time to close the task */
  gatherMs: number
}

/** Nine questions with two leads each, a model call for every question, and some to spare. */
const DEFAULTS: Record<LimitName, number> = {
  maxRetrievalSteps: 32,
  maxScannedResources: 1000,
  maxToolCalls: 64,
  timeoutMs: 600_000,
}
/** Of a task's time, this much is kept for closing it, and no more than this many milliseconds. */
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
