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

/** A limit of the task ends what it is doing; what it has found stays. */
export class LimitReached extends Error {
  readonly stop: ResearchStop

  constructor(stop: ResearchStop) {
    super(`${stop.limit} of ${stop.limitValue} is reached`)
    this.stop = stop
  }
}

/** Somebody else ended the task, or its space is gone: nothing more is written. */
export class TaskGone extends Error {}

/** The task cannot come to anything; trying again would not help. */
export class TaskFailed extends Error {}

/** A language model at work for a task. */
export interface TaskModel {
  generator: Generator
  price: ModelPrice
  provider: string
  name: string
}

/** What a step needs to know and may use up. */
export interface StepScope {
  signal: AbortSignal
  /** passages that may still be read */
  room: number
}

type StepWork<T> = (scope: StepScope) => Promise<Omit<DoneStep, 'key' | 'name' | 'latencyMs' | 'body'> & { body: T }>

/** The steps that look for evidence; time that is over ends them, while closing a task always goes on. */
const GATHERING: readonly StepName[] = ['plan', 'retrieve', 'inspect']

/**
 * One stay of a task at work. Steps are durable: one that is written down is not done again, and its result, evidence,
 * cost and events are one transaction.
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

  /** time at work, in milliseconds, over all starts of the daemon */
  get activeMs(): number {
    return Math.round(this.#row.active_ms + performance.now() - this.#started)
  }

  used(): Promise<Used> {
    return this.context.db.read(usedBy(this.#row))
  }

  /** @throws TaskGone */
  async space(): Promise<SpaceRow> {
    const space = await this.context.db.read(spaceByKey(this.#row.space_key))
    if (space === undefined) throw new TaskGone('the space is gone')
    return space
  }

  /** What a query of the task's own would have been admitted with. */
  async admitted(): Promise<Admitted> {
    const { profile, snapshot } = this.frozen
    const { db } = this.context
    const seq = await db.read(lastSequence(this.#row.space_key))
    const { nodes } = await db.read(usageOf(this.#row.space_key))
    return { subject: this.#row.subject, space: await this.space(), profile, snapshot, seq, nodes }
  }

  /** Whether a language model takes part; else the task works with rules. */
  get hasModel(): boolean {
    return this.#model() !== undefined
  }

  /** The language model of the task, or undefined where it works with rules. @throws TaskGone */
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
   * Does a step, or gives back what it came to before.
   *
   * @throws LimitReached where a limit leaves no room for it, or ends it; TaskGone when the task was ended meanwhile
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
   * Whether one more call of a model fits the limits.
   *
   * @param worstUsd what it may cost, with calls of this step that are not stored yet; `calls`: how many those are
   * @throws LimitReached
   */
  async checkModelCall(worstUsd: number, calls = 0): Promise<void> {
    const used = await this.used()
    this.#check('maxToolCalls', used.toolCalls + calls)
    const { budget_usd: budget } = this.#row
    if (budget !== null && used.costUsd + worstUsd > budget)
      throw new LimitReached({ limit: 'budgetUsd', limitValue: budget })
  }

  /** Notes that the budget kept the task from something. */
  async noteBudget(): Promise<void> {
    const { db } = this.context
    await db.write(() => noteBudget(this.#row))
  }

  /** Moves the task to the next stage. @throws TaskGone */
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
    // what was stored counts from the beginning of this stay
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

  /** Runs work that ends with the task's time, or with the task. */
  async #inTime<T>(gathering: boolean, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const over = new LimitReached({ limit: 'timeoutMs', limitValue: this.limits.timeoutMs })
    const end = gathering ? this.limits.gatherMs : this.limits.timeoutMs
    const left = end - this.activeMs
    if (gathering && left <= 0) throw over
    const scope = linkAbort(this.signal)
    const timer = setTimeout(() => scope.abort(over), Math.max(0, left))
    try {
      // what closes a task looks at the signal itself: it has another way to end in time
      return await (gathering ? abortable(work(scope.signal), scope.signal) : work(scope.signal))
    } finally {
      clearTimeout(timer)
      scope.dispose()
      scope.abort()
    }
  }
}

/** What a step came to before, or what the task has used up so far. */
function* before(task: OwnTask, key: string): Read<{ known: string | undefined; used: Used }> {
  return { known: yield* stepBody(task, key), used: yield* usedBy(task) }
}

/** A promise that is not waited for any more once the signal aborts: not every part of a retrieval listens. */
function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
