import { KsError } from '../../contract/errors.js'
import { type LinkedAbort, linkAbort } from '../../lib/abort.js'
import { asTenant } from '../base/tenant-scope.js'
import { createTurns } from '../base/turns.js'
import { untilWritten } from '../base/until-written.js'
import type { EngineContext } from '../context.js'
import type { QueryShared } from '../query/stages.js'
import { passesByItself } from '../queue/retry-policy.js'
import { claimTask, giveBack, isTaskDue, MAX_RETRY_MS, putOff } from '../rows/research/claims.js'
import { allOpenTasks, moveTask, type TaskRow, taskById } from '../rows/research/tasks.js'
import { readUnlessDamaged } from '../storage/write-stop.js'
import { advance } from './advance.js'
import { frozenOf } from './task.js'
import { TaskFailed, TaskGone, TaskRun } from './task-run.js'

/** Maximum running tasks: they share the machine with queries, which have priority. */
const TASKS_AT_ONCE = 2
const MAX_ATTEMPTS = 5
const FIRST_RETRY_MS = 1000

interface Running {
  ended: Promise<void>
  stop: LinkedAbort
}

/** Runs research tasks. The table is the queue, and claims are its rows: they end with their gateway. */
export class ResearchRunner {
  readonly #context: EngineContext
  readonly #shared: QueryShared
  readonly #stop = new AbortController()
  readonly #turns = createTurns(
    () => this.#turn(),
    (error) => this.#context.log.warn({ error: String(error) }, 'no research task could be taken; it is tried again'),
  )
  readonly #running = new Map<string, Running>()
  readonly #listeners = new Map<string, Set<() => void>>()
  #lastSpace = 0

  constructor(context: EngineContext, shared: QueryShared) {
    this.#context = context
    this.#shared = shared
  }

  /** Checks soon for work. */
  wake(): void {
    this.#turns.wake()
  }

  async activity(): Promise<{ active: number; waiting: number }> {
    const open = await readUnlessDamaged(this.#context.db.read(allOpenTasks()), 0)
    return { active: this.#running.size, waiting: Math.max(0, open - this.#running.size) }
  }

  /** Stops work on a task that another caller ended, and notifies its followers. */
  ended(taskId: string): void {
    this.#running.get(taskId)?.stop.abort(new TaskGone('the task was ended'))
    this.tell(taskId)
    this.wake()
  }

  /** Calls back after each change of a task. @returns a function that removes the listener */
  listen(taskId: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(taskId) ?? new Set()
    this.#listeners.set(taskId, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#listeners.get(taskId) === listeners) this.#listeners.delete(taskId)
    }
  }

  tell(taskId: string): void {
    for (const listener of this.#listeners.get(taskId) ?? []) listener()
  }

  /** Takes no new work and waits until running work has stopped; it will continue after its last step. */
  async close(): Promise<void> {
    this.#stop.abort(new KsError('unavailable', 'the daemon is stopping'))
    await this.#turns.stop()
    await Promise.allSettled([...this.#running.values()].map(({ ended }) => ended))
  }

  async #turn(): Promise<void> {
    const { db, instance, now } = this.#context
    while (this.#running.size < TASKS_AT_ONCE && !this.#stop.signal.aborted) {
      const at = now()
      // A tick without work writes nothing and waits for no lock.
      if (!(await db.read(isTaskDue(at)))) break
      const task = await db.write(() => claimTask(this.#lastSpace, instance, at))
      if (task === undefined) break
      this.#lastSpace = task.space_key
      this.#launch(task)
    }
  }

  #launch(task: TaskRow): void {
    const stop = linkAbort(this.#stop.signal)
    const ended = asTenant(task.tenant, () => this.#run(task, stop.signal))
      .catch((error: unknown) =>
        this.#context.log.error({ task: task.id, error: String(error) }, 'a research task could not be released'),
      )
      .finally(() => {
        stop.dispose()
        this.#running.delete(task.id)
        this.tell(task.id)
        this.wake()
      })
    this.#running.set(task.id, { ended, stop })
  }

  async #run(task: TaskRow, signal: AbortSignal): Promise<void> {
    const { leases } = this.#context
    const { snapshot } = frozenOf(task)
    // What the frozen publication shows is not purged while the task reads it.
    const lease = leases.acquire({
      spaceKey: task.space_key,
      sessionId: task.id,
      type: 'read',
      targetType: 'publication',
      targetId: snapshot.publicationId,
      virtualPath: `/evidence/${task.id}`,
    })
    lease.keepAlive()
    const told = () => this.tell(task.id)
    try {
      await advance(new TaskRun({ context: this.#context, shared: this.#shared, signal, told }, task))
    } catch (error) {
      await this.#letGo(task, error)
    } finally {
      lease.release()
    }
  }

  /** Handles an error: ends the task, schedules a retry, or gives the task back for the next start. */
  async #letGo(claim: TaskRow, error: unknown): Promise<void> {
    const { db, log, now } = this.#context
    const { id } = claim
    if (this.#stop.signal.aborted) {
      await db.write(() => giveBack(claim))
      return
    }
    const row = await db.read(taskById(claim))
    if (error instanceof TaskGone || row === undefined || row.completed_at !== null) return
    const message = error instanceof TaskFailed || error instanceof KsError ? error.message : 'an unexpected failure'
    if (error instanceof TaskFailed || row.attempts + 1 >= MAX_ATTEMPTS) {
      await this.#untilWritten('the end of a research task', () =>
        db.write(() => moveTask(claim, { from: row.stage, to: 'failed', now: now(), error: message, claim })),
      )
      return
    }
    log.warn({ task: id, stage: row.stage, error: String(error) }, 'a research task is tried again')
    const delay = Math.min(FIRST_RETRY_MS * 2 ** row.attempts, MAX_RETRY_MS)
    const runAfter = now() + Math.round(delay * (0.5 + Math.random() / 2))
    await this.#untilWritten('when a research task is tried again', () =>
      db.write(() => putOff(claim, passesByItself(error) ? 0 : 1, runAfter)),
    )
    setTimeout(() => this.wake(), delay).unref()
  }

  #untilWritten<T>(what: string, write: () => Promise<T>): Promise<T> {
    return untilWritten(this.#context, what, this.#stop.signal, write)
  }
}
