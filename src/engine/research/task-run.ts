import type { ResearchStop } from '../../contract/gateway/research.js'
import { linkAbort } from '../../lib/abort.js'
import type { ModelPrice } from '../../local/model-prices.js'
import type { ModelReference } from '../base/model-reference.js'
import { account } from '../compile/embeddings.js'
import type { EngineContext } from '../context.js'
import { isBuiltin } from '../models/registry.js'
import type { Generator } from '../models/types.js'
import type { Admitted } from '../query/admission.js'
import type { QueryShared } from '../query/stages.js'
import { lastSequence } from '../rows/projection-log.js'
import type { StepName } from '../rows/research/costs.js'
import type { OwnTask } from '../rows/research/own-task.js'
import { type DoneStep, stepBody, type Used, usedBy, writeStep } from '../rows/research/steps.js'
import { moveOn, noteBudget, type TaskRow, taskById } from '../rows/research/tasks.js'
import { usageOf } from '../rows/space-usage.js'
import { type SpaceRow, spaceByKey } from '../rows/spaces.js'
import type { Read } from '../storage/program.js'
import { fromCell } from '../storage/readable.js'
import { limitsOf, type TaskLimits } from './limits.js'
import { priceOf } from './prices.js'
import { type Frozen, frozenOf } from './task.js'

/** A limit ends the current work of the task; its evidence stays. */
export class LimitReached extends Error {
  readonly stop: ResearchStop

  constructor(stop: ResearchStop) {
    super(`${stop.limit} of ${stop.limitValue} is reached`)
    this.stop = stop
  }
}

/** Another caller ended the task, or its space was deleted: nothing more is written. */
export class TaskGone extends Error {}

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
  room: number
}

type StepWork<T> = (scope: StepScope) => Promise<Omit<DoneStep, 'key' | 'name' | 'latencyMs' | 'body'> & { body: T }>

/** Steps that gather evidence: the timeout ends them, while closing a task always continues. */
const GATHERING: readonly StepName[] = ['plan', 'retrieve', 'inspect']

/**
 * One run of a task by this process. Steps are durable: a stored one is not repeated, and its result, evidence, cost
 * and events are one transaction.
 */
export class TaskRun {
  readonly context: EngineContext
  readonly shared: QueryShared
  readonly frozen: Frozen
  readonly limits: TaskLimits
  readonly signal: AbortSignal
  readonly #started = performance.now()
  readonly #told: () => void
  #row: TaskRow

  /** @param told called after every change that readers may be waiting for */
  constructor(
    parts: { context: EngineContext; shared: QueryShared; signal: AbortSignal; told: () => void },
    row: TaskRow,
  ) {
    this.context = parts.context
    this.shared = parts.shared
    this.signal = parts.signal
    this.#told = parts.told
    this.#row = row
    this.frozen = frozenOf(row)
    this.limits = limitsOf(this.frozen.limits)
  }

  get row(): TaskRow {
    return this.#row
  }

  /** active time, in milliseconds, over all starts of the daemon */
  get activeMs(): number {
    return Math.round(this.#row.active_ms + performance.now() - this.#started)
  }

  used(): Promise<Used> {
    return this.context.db.read(usedBy(this.#row))
  }

  /** @throws TaskEnded */
  async space(): Promise<SpaceRow> {
    const space = await this.context.db.read(spaceByKey(this.#row.space_key))
    if (space === undefined) throw new TaskGone('the space is gone')
    return space
  }

  /** Admits a query of the task, with its frozen publication and profile. */
  async admitted(): Promise<Admitted> {
    const { profile, snapshot } = this.frozen
    const { db } = this.context
    const seq = await db.read(lastSequence(this.#row.space_key))
    const { nodes } = await db.read(usageOf(this.#row.space_key))
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
      generator: models.generator(reference, account(this.context, await this.space())),
      price: priceOf(options.providers, reference),
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
    const { known, used } = await this.context.db.read(before(this.#row, key))
    if (known !== undefined) return fromCell(known)
    this.signal.throwIfAborted()
    if (name === 'retrieve') this.#check('maxRetrievalSteps', used.retrievalSteps)
    if (name === 'retrieve') this.#check('maxScannedResources', used.scannedResources)
    if (name === 'retrieve') this.#check('maxToolCalls', used.toolCalls)
    const started = performance.now()
    const done = await this.#inTime(GATHERING.includes(name), (signal) =>
      work({ signal, room: this.limits.maxScannedResources - used.scannedResources }),
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
    this.#check('maxToolCalls', used.toolCalls + calls)
    const { budget_usd: budget } = this.#row
    if (budget !== null && used.costUsd + worstUsd > budget)
      throw new LimitReached({ limit: 'budgetUsd', limitValue: budget })
  }

  /** Records that the budget prevented work of the task. */
  async noteBudget(): Promise<void> {
    const { db } = this.context
    await db.write(() => noteBudget(this.#row))
  }

  /** Moves the task to the next stage. @throws TaskEnded */
  async moveTo(to: TaskRow['stage'], stoppedBy?: ResearchStop): Promise<void> {
    const { db, now } = this.context
    const task = this.#row
    const { stage, active_ms, claimed_by, fence } = task
    const activeMs = this.activeMs
    const { moved, row } = await db.write(function* () {
      const move = { from: stage, to, now: now(), claim: { claimed_by, fence } }
      return { moved: yield* moveOn(task, move, activeMs, stoppedBy), row: yield* taskById(task) }
    })
    if (!moved) throw new TaskGone('the task was ended')
    if (row === undefined) throw new TaskGone('the task is gone')
    // The stored active time is added to that of this run.
    this.#row = { ...row, active_ms }
    this.#told()
  }

  async #write(step: DoneStep): Promise<void> {
    const { db, now } = this.context
    const activeMs = this.activeMs
    const written = await db.write(() => writeStep(this.#row, step, { now: now(), activeMs }), {
      lock: this.#row.space_key,
    })
    if (!written) throw new TaskGone('the task was ended')
    this.#told()
  }

  #check(limit: 'maxRetrievalSteps' | 'maxScannedResources' | 'maxToolCalls', used: number): void {
    const limitValue = this.limits[limit]
    if (used >= limitValue) throw new LimitReached({ limit, limitValue })
  }

  /** Runs work that ends with the task's time limit, or with the task. */
  async #inTime<T>(gathering: boolean, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const over = new LimitReached({ limit: 'timeoutMs', limitValue: this.limits.timeoutMs })
    const end = gathering ? this.limits.gatherMs : this.limits.timeoutMs
    const left = end - this.activeMs
    if (gathering && left <= 0) throw over
    const scope = linkAbort(this.signal)
    const timer = setTimeout(() => scope.abort(over), Math.max(0, left))
    try {
      // Closing steps observe the signal themselves: they have another way to end in time.
      return await (gathering ? abortable(work(scope.signal), scope.signal) : work(scope.signal))
    } finally {
      clearTimeout(timer)
      scope.dispose()
      scope.abort()
    }
  }
}

/** Stored result of a step, and the usage of the task so far. */
function* before(task: OwnTask, key: string): Read<{ known: string | undefined; used: Used }> {
  return { known: yield* stepBody(task, key), used: yield* usedBy(task) }
}

/** Rejects as soon as the signal aborts: not every part of a retrieval observes it. */
function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
