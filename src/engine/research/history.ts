import type { ConcreteMode } from '../query/mode.js'
import type { StepName } from '../rows/research/costs.js'
import { type TaskTotals, totalsOfLast } from '../rows/research/history.js'
import type { Read } from '../storage/program.js'

/** Tasks that an estimate looks back on. */
const TASKS = 50

/** Standard deviations that 95 of 100 of a normal distribution stay below. */
const Z95 = 1.645

export interface Spread {
  p50: number
  p95: number
}

/** What earlier tasks took; times in milliseconds. */
export interface History {
  /** whose tasks they are; `none`: nothing was measured yet, and assumptions stand in */
  of: 'space' | 'tenant' | 'none'
  /** for each question of the plan */
  retrievalsPerQuestion: number
  /** passages of one retrieval */
  scannedPerRetrieval: number
  /** a whole task's time for each question of its plan */
  msPerQuestion: Spread
  /** mean time of a step of each name */
  stepMs: Record<StepName, number>
  /** tokens of all model calls for each question; undefined when no model took part */
  tokens: { input: number; output: number } | undefined
}

/** Without any measurement: a retrieval of a middling space, and what a model takes to write a section. */
const ASSUMED: History = {
  of: 'none',
  retrievalsPerQuestion: 1.5,
  scannedPerRetrieval: 10,
  msPerQuestion: { p50: 600, p95: 2250 },
  stepMs: { plan: 5, retrieve: 300, inspect: 50, analyze: 50, generate: 50 },
  tokens: undefined,
}

/**
 * What completed tasks in a mode took: of the space, else of the tenant's other spaces, else assumptions. Other tenants'
 * tasks are never looked at.
 */
export function* historyOf(space: { key: number; tenant: string }, mode: ConcreteMode): Read<History> {
  const own = yield* measured('space', space.key, mode)
  return own ?? (yield* measured('tenant', space.tenant, mode)) ?? ASSUMED
}

function* measured(of: 'space' | 'tenant', owner: number | string, mode: ConcreteMode): Read<History | undefined> {
  const { tasks, steps } = yield* totalsOfLast(TASKS, of, owner, mode)
  if (tasks.length === 0) return undefined
  const sum = (pick: (task: TaskTotals) => number): number => tasks.reduce((total, task) => total + pick(task), 0)
  const retrievals = sum((task) => task.retrievals)
  const questions = sum((task) => task.questions)
  const output = sum((task) => task.output)
  return {
    of,
    retrievalsPerQuestion: retrievals / questions,
    scannedPerRetrieval: sum((task) => task.scanned) / retrievals,
    msPerQuestion: spreadOf(tasks.map((task) => task.active_ms / task.questions)),
    stepMs: { ...ASSUMED.stepMs, ...Object.fromEntries(steps.map(({ name, ms }) => [name, ms])) },
    tokens: output === 0 ? undefined : { input: sum((task) => task.input) / questions, output: output / questions },
  }
}

/** How much times spread before any was measured: that of the assumed ones, in natural logarithms. */
const PRIOR_SIGMA = Math.log(ASSUMED.msPerQuestion.p95 / ASSUMED.msPerQuestion.p50) / Z95
/** How many measurements the assumed spread counts as: one task says how long they take, not by how much they differ. */
const PRIOR_WEIGHT = 4

/**
 * Median and 95th percentile of the next task's time. Times of work multiply, so their logarithms are taken to be normal:
 * the median is the geometric mean, the spread is that of the measurements and of the assumption, weighed, and the fewer
 * tasks there were, the less certain the median is.
 *
 * @param times in milliseconds, not empty
 */
export function spreadOf(times: readonly number[]): Spread {
  const logs = times.map((time) => Math.log(Math.max(1, time)))
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length
  const squares = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0)
  const variance = (PRIOR_WEIGHT * PRIOR_SIGMA ** 2 + squares) / (PRIOR_WEIGHT + logs.length - 1)
  const sigma = Math.sqrt(variance * (1 + 1 / logs.length))
  return { p50: Math.exp(mean), p95: Math.exp(mean + Z95 * sigma) }
}
