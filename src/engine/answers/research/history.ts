import type { ConcreteMode } from '../../retrieval/index.js'
import type { Read } from '../../store/program.js'
import type { StepName } from '../rows/research/costs.js'
import { getRecentTotals, type TaskTotals } from '../rows/research/history.js'

/** Maximum earlier tasks in an estimate. */
const MAX_TASKS = 50

/** Standard deviations below which 95 of 100 values of a normal distribution lie. */
const Z95 = 1.645

export interface TimeSpread {
  p50: number
  p95: number
}

/** Measurements of earlier tasks; times in milliseconds. */
export interface TaskHistory {
  /** scope of the measured tasks; `none`: nothing was measured yet, and assumptions are used */
  scope: 'space' | 'tenant' | 'none'
  /** for each question of the plan */
  retrievalsPerQuestion: number
  /** passages of one retrieval */
  scannedPerRetrieval: number
  /** time of a complete task for each question of its plan */
  msPerQuestion: TimeSpread
  /** mean time of a step of each name */
  stepMs: Record<StepName, number>
  /** tokens of all model calls for each question; undefined without model calls */
  tokens: { input: number; output: number } | undefined
}

/** Assumptions without measurements: a retrieval in a medium space, and a model that writes a section. */
const ASSUMED_HISTORY: TaskHistory = {
  scope: 'none',
  retrievalsPerQuestion: 1.5,
  scannedPerRetrieval: 10,
  msPerQuestion: { p50: 600, p95: 2250 },
  stepMs: { plan: 5, retrieve: 300, inspect: 50, analyze: 50, generate: 50 },
  tokens: undefined,
}

/**
 * Loads measurements of completed tasks in a mode: of the space, else of the tenant's other spaces, else assumptions.
 * Tasks of other tenants are never used.
 */
export function* loadHistory(space: { key: number; tenant: string }, mode: ConcreteMode): Read<TaskHistory> {
  const own = yield* measureTasks('space', space.key, mode)
  return own ?? (yield* measureTasks('tenant', space.tenant, mode)) ?? ASSUMED_HISTORY
}

function* measureTasks(
  scope: 'space' | 'tenant',
  owner: number | string,
  mode: ConcreteMode,
): Read<TaskHistory | undefined> {
  const { tasks, steps } = yield* getRecentTotals(MAX_TASKS, scope, owner, mode)
  if (tasks.length === 0) return undefined
  const sum = (pick: (task: TaskTotals) => number): number => tasks.reduce((total, task) => total + pick(task), 0)
  const retrievals = sum((task) => task.retrievals)
  const questions = sum((task) => task.questions)
  const output = sum((task) => task.output)
  return {
    scope,
    retrievalsPerQuestion: retrievals / questions,
    scannedPerRetrieval: sum((task) => task.scanned) / retrievals,
    msPerQuestion: computeTimeSpread(tasks.map((task) => task.active_ms / task.questions)),
    stepMs: { ...ASSUMED_HISTORY.stepMs, ...Object.fromEntries(steps.map(({ name, ms }) => [name, ms])) },
    tokens: output === 0 ? undefined : { input: sum((task) => task.input) / questions, output: output / questions },
  }
}

/** Assumed spread of times, in natural logarithms. */
const PRIOR_SIGMA = Math.log(ASSUMED_HISTORY.msPerQuestion.p95 / ASSUMED_HISTORY.msPerQuestion.p50) / Z95
/** Number of measurements that the assumed spread counts as: one task shows the time, but not how much times differ. */
const PRIOR_WEIGHT = 4

/**
 * Computes the median and 95th percentile of the next task's time. Times multiply, so their logarithms are assumed
 * normal: the median is the geometric mean, and the spread is the weighted mean of measured and assumed spread. With
 * fewer tasks the median is less certain.
 *
 * @param times in milliseconds, not empty
 */
export function computeTimeSpread(times: readonly number[]): TimeSpread {
  const logs = times.map((time) => Math.log(Math.max(1, time)))
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length
  const squares = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0)
  const variance = (PRIOR_WEIGHT * PRIOR_SIGMA ** 2 + squares) / (PRIOR_WEIGHT + logs.length - 1)
  const sigma = Math.sqrt(variance * (1 + 1 / logs.length))
  return { p50: Math.exp(mean), p95: Math.exp(mean + Z95 * sigma) }
}
