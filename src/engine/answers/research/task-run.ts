import type { ReachedResearchLimit } from '../../../contract/gateway/research.js'
import { linkAbort } from '../../../lib/abort.js'
import type { ModelPrice } from '../../../local/model-prices.js'
import type { ModelReference } from '../../base/model-reference.js'
import { type EngineContext, getSpaceAccount } from '../../library/index.js'
import { type Generator, isBuiltin } from '../../models/index.js'
import type { AdmittedQuery, RetrievalServices } from '../../retrieval/index.js'
import type { Read } from '../../store/program.js'
import { parseJsonCell } from '../../store/readable.js'
import { getLastSequence } from '../../store/rows/projection-log.js'
import type { ResearchTaskKey } from '../../store/rows/research/task-key.js'
import {
  advanceTask,
  findTaskByKey,
  markBudgetExceeded,
  type ResearchTaskRow,
} from '../../store/rows/research/tasks.js'
import { getSpaceUsage } from '../../store/rows/space-usage.js'
import { findSpaceByKey, type SpaceRow } from '../../store/rows/spaces.js'
import type { StepName } from '../rows/research/costs.js'
import { type FinishedStep, findStepBody, getTaskUsage, insertStep, type TaskUsage } from '../rows/research/steps.js'
import { resolveLimits, type TaskLimits } from './limits.js'
import { getPrice } from './prices.js'
import { type FrozenSettings, parseFrozen } from './task.js'

/** A limit ends the current work of the task; its evidence stays. */
export class LimitReached extends Error {
  readonly stop: ReachedResearchLimit

  constructor(stop: ReachedResearchLimit) {
    super(`${stop.limit} of ${stop.limitValue} is reached`)
    this.stop = stop
  }
}

/** Another caller ended the task, or its space was deleted: nothing more is written. */
export class TaskEnded extends Error {}

/** The task cannot have a result; a retry would not help. */
export class TaskFailed extends Error {}

/** The language model of a task. */
export interface TaskModel {
  generator: Generator
  price: ModelPrice
  provider: string
  name: string
}

/** Context and limits of a step. */
export interface StepScope {
  signal: AbortSignal
  /** number of passages that may still be read */
  remainingPassages: number
}

type StepWork<T> = (
  scope: StepScope,
) => Promise<Omit<FinishedStep, 'key' | 'name' | 'latencyMs' | 'body'> & { body: T }>

/** Steps that gather evidence: the timeout ends them, while closing a task always continues. */
const GATHERING_STEPS: readonly StepName[] = ['plan', 'retrieve', 'inspect']

/**
 * One run of a task by this process. Steps are durable: a stored one is not repeated, and its result, evidence, cost
 * and events are one transaction.
 */
export class TaskRun {
  readonly context: EngineContext
  readonly services: RetrievalServices
  readonly frozen: FrozenSettings
  readonly limits: TaskLimits
  readonly signal: AbortSignal
  readonly #started = performance.now()
  readonly #onChange: () => void
  #row: ResearchTaskRow

  /** @param parts.onChange called after every change that readers may be waiting for */
  constructor(parts: { services: RetrievalServices; signal: AbortSignal; onChange: () => void }, row: ResearchTaskRow) {
    this.services = parts.services
    this.context = parts.services.context
    this.signal = parts.signal
    this.#onChange = parts.onChange
    this.#row = row
    this.frozen = parseFrozen(row)
    this.limits = resolveLimits(this.frozen.limits)
  }

  get row(): ResearchTaskRow {
    return this.#row
  }

  /** active time, in milliseconds, over all starts of the daemon */
  get activeMs(): number {
    return Math.round(this.#row.active_ms + performance.now() - this.#started)
  }

  used(): Promise<TaskUsage> {
    return this.context.db.read(getTaskUsage(this.#row))
  }

  /** @throws TaskEnded */
  async space(): Promise<SpaceRow> {
    const space = await this.context.db.read(findSpaceByKey(this.#row.space_key))
    if (space === undefined) throw new TaskEnded('the space is gone')
    return space
  }

  /** Admits a query of the task, with its frozen publication and profile. */
  async admitted(): Promise<AdmittedQuery> {
    const { profile, snapshot } = this.frozen
    const { db } = this.context
    const seq = await db.read(getLastSequence(this.#row.space_key))
    const { nodes } = await db.read(getSpaceUsage(this.#row.space_key))
    return { subject: this.#row.subject, space: await this.space(), profile, snapshot, seq, nodes }
  }

  /** Whether a language model is used; otherwise the task works with rules. */
  get hasModel(): boolean {
    return this.#model() !== undefined
  }

  /** Language model of the task; undefined when it works with rules. @throws TaskEnded */
  async model(): Promise<TaskModel | undefined> {
    const { models, options } = this.context
    const reference = this.#model()
    if (reference === undefined) return undefined
    return {
      generator: models.generator(reference, getSpaceAccount(this.context, await this.space())),
      price: getPrice(options.providers, reference),
      provider: reference.provider,
      name: reference.model,
    }
  }

  #model(): ModelReference | undefined {
    const { models, options } = this.context
    const reference = this.frozen.profile.reasoningModel ?? options.defaultGenerator
    return isBuiltin(reference) || !models.has(reference, 'generation') ? undefined : reference
  }

  /**
   * Runs a step, or returns its stored result.
   *
   * @throws LimitReached when a limit prevents or ends it; TaskEnded when the task was ended meanwhile
   */
  async step<T>(key: string, name: StepName, work: StepWork<T>): Promise<T> {
    const { known, used } = await this.context.db.read(readStepState(this.#row, key))
    if (known !== undefined) return parseJsonCell(known)
    this.signal.throwIfAborted()
    if (name === 'retrieve') this.#checkLimit('maxRetrievalSteps', used.retrievalSteps)
    if (name === 'retrieve') this.#checkLimit('maxScannedResources', used.scannedResources)
    if (name === 'retrieve') this.#checkLimit('maxToolCalls', used.toolCalls)
    const started = performance.now()
    const done = await this.#runWithTimeout(GATHERING_STEPS.includes(name), (signal) =>
      work({ signal, remainingPassages: this.limits.maxScannedResources - used.scannedResources }),
    )
    const latencyMs = Math.max(0, Math.round(performance.now() - started))
    await this.#write({ ...done, key, name, latencyMs })
    return done.body
  }

  /**
   * Checks that one more model call fits the limits.
   *
   * @param worstUsd its maximum cost, including calls of this step that are not stored yet; `calls`: their number
   * @throws LimitReached
   */
  async checkModelCall(worstUsd: number, calls = 0): Promise<void> {
    const used = await this.used()
    this.#checkLimit('maxToolCalls', used.toolCalls + calls)
    const { budget_usd: budget } = this.#row
    if (budget !== null && used.costUsd + worstUsd > budget)
      throw new LimitReached({ limit: 'budgetUsd', limitValue: budget })
  }

  /** Records that the budget prevented work of the task. */
  async noteBudget(): Promise<void> {
    const { db } = this.context
    await db.write(() => markBudgetExceeded(this.#row))
  }

  /** Moves the task to the next stage. @throws TaskEnded */
  async moveTo(to: ResearchTaskRow['stage'], stoppedBy?: ReachedResearchLimit): Promise<void> {
    const { db, now } = this.context
    const task = this.#row
    const { stage, active_ms, claimed_by, fence } = task
    const activeMs = this.activeMs
    const { moved, row } = await db.write(function* () {
      const move = { from: stage, to, now: now(), claim: { claimed_by, fence } }
      return { moved: yield* advanceTask(task, move, activeMs, stoppedBy), row: yield* findTaskByKey(task) }
    })
    if (!moved) throw new TaskEnded('the task was ended')
    if (row === undefined) throw new TaskEnded('the task is gone')
    // The stored active time is added to that of this run.
    this.#row = { ...row, active_ms }
    this.#onChange()
  }

  async #write(step: FinishedStep): Promise<void> {
    const { db, now } = this.context
    const activeMs = this.activeMs
    const written = await db.write(() => insertStep(this.#row, step, { now: now(), activeMs }), {
      lock: this.#row.space_key,
    })
    if (!written) throw new TaskEnded('the task was ended')
    this.#onChange()
  }

  #checkLimit(limit: 'maxRetrievalSteps' | 'maxScannedResources' | 'maxToolCalls', used: number): void {
    const limitValue = this.limits[limit]
    if (used >= limitValue) throw new LimitReached({ limit, limitValue })
  }

  /** Runs work that ends with the task's time limit, or with the task. */
  async #runWithTimeout<T>(gathering: boolean, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const timeoutError = new LimitReached({ limit: 'timeoutMs', limitValue: this.limits.timeoutMs })
    const end = gathering ? this.limits.gatherMs : this.limits.timeoutMs
    const remainingMs = end - this.activeMs
    if (gathering && remainingMs <= 0) throw timeoutError
    const scope = linkAbort(this.signal)
    const timer = setTimeout(() => scope.abort(timeoutError), Math.max(0, remainingMs))
    try {
      // Closing steps observe the signal themselves: they have another way to end in time.
      return await (gathering ? rejectOnAbort(work(scope.signal), scope.signal) : work(scope.signal))
    } finally {
      clearTimeout(timer)
      scope.dispose()
      scope.abort()
    }
  }
}

/** Stored result of a step, and the usage of the task so far. */
function* readStepState(task: ResearchTaskKey, key: string): Read<{ known: string | undefined; used: TaskUsage }> {
  return { known: yield* findStepBody(task, key), used: yield* getTaskUsage(task) }
}

/** Rejects as soon as the signal aborts: not every part of a retrieval observes it. */
function rejectOnAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
