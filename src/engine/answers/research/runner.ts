import { KsError } from '../../../contract/errors.js'
import { type LinkedAbort, linkAbort } from '../../../lib/abort.js'
import { BackgroundService } from '../../base/background-service.js'
import { retryUntilWritten } from '../../base/retry-until-written.js'
import { asTenant } from '../../base/tenant-scope.js'
import { type EngineContext, isTemporaryError } from '../../library/index.js'
import type { RetrievalServices } from '../../retrieval/index.js'
import { claimTask, deferTask, isTaskDue, MAX_TASK_RETRY_MS, releaseTask } from '../../store/rows/research/claims.js'
import { countAllOpenTasks, findTaskByKey, moveTask, type ResearchTaskRow } from '../../store/rows/research/tasks.js'
import { readUnlessDamaged } from '../../store/write-stop.js'
import { runTask } from './advance.js'
import { parseFrozen } from './task.js'
import { TaskEnded, TaskFailed, TaskRun } from './task-run.js'

/** Maximum running tasks: they share the machine with queries, which have priority. */
const MAX_RUNNING_TASKS = 2
const MAX_ATTEMPTS = 5
const FIRST_RETRY_MS = 1000

/** Runs research tasks. The table is the queue, and claims are its rows: they end with their gateway. */
export class ResearchRunner extends BackgroundService<EngineContext> {
  protected override readonly failureMessage = 'no research task could be taken; it is tried again'
  readonly #services: RetrievalServices
  readonly #running = new Map<string, LinkedAbort>()
  readonly #listeners = new Map<string, Set<() => void>>()
  #lastSpace = 0

  constructor(services: RetrievalServices) {
    super(services.context)
    this.#services = services
  }

  async activity(): Promise<{ active: number; waiting: number }> {
    const open = await readUnlessDamaged(this.context.db.read(countAllOpenTasks()), 0)
    return { active: this.#running.size, waiting: Math.max(0, open - this.#running.size) }
  }

  /** Stops work on a task that another caller ended, and notifies its followers. */
  noteEnded(taskId: string): void {
    this.#running.get(taskId)?.abort(new TaskEnded('the task was ended'))
    this.notifyListeners(taskId)
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

  notifyListeners(taskId: string): void {
    for (const listener of this.#listeners.get(taskId) ?? []) listener()
  }

  protected override async tick(): Promise<void> {
    const { db, instance, now } = this.context
    while (this.#running.size < MAX_RUNNING_TASKS && !this.isStopped) {
      const time = now()
      // A tick without work writes nothing and waits for no lock.
      if (!(await db.read(isTaskDue(time)))) break
      const task = await db.write(() => claimTask(this.#lastSpace, instance, time))
      if (task === undefined) break
      this.#lastSpace = task.space_key
      this.#launch(task)
    }
  }

  #launch(task: ResearchTaskRow): void {
    const stop = linkAbort(this.stopSignal)
    this.#running.set(task.id, stop)
    const ended = asTenant(task.tenant, () => this.#run(task, stop.signal))
      .catch((error: unknown) =>
        this.context.log.error({ task: task.id, error: String(error) }, 'a research task could not be released'),
      )
      .finally(() => {
        stop.dispose()
        this.#running.delete(task.id)
        this.notifyListeners(task.id)
        this.wake()
      })
    this.track(ended)
  }

  async #run(task: ResearchTaskRow, signal: AbortSignal): Promise<void> {
    const { leases } = this.context
    const { snapshot } = parseFrozen(task)
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
    const onChange = () => this.notifyListeners(task.id)
    try {
      await runTask(new TaskRun({ services: this.#services, signal, onChange }, task))
    } catch (error) {
      await this.#handleError(task, error)
    } finally {
      lease.release()
    }
  }

  /** Handles an error: ends the task, schedules a retry, or gives the task back for the next start. */
  async #handleError(claim: ResearchTaskRow, error: unknown): Promise<void> {
    const { db, log, now } = this.context
    const { id } = claim
    if (this.isStopped) {
      await db.write(() => releaseTask(claim))
      return
    }
    const row = await db.read(findTaskByKey(claim))
    if (error instanceof TaskEnded || row === undefined || row.completed_at !== null) return
    const message = error instanceof TaskFailed || error instanceof KsError ? error.message : 'an unexpected failure'
    if (error instanceof TaskFailed || row.attempts + 1 >= MAX_ATTEMPTS) {
      await this.#untilWritten('the end of a research task', () =>
        db.write(() => moveTask(claim, { from: row.stage, to: 'failed', now: now(), error: message, claim })),
      )
      return
    }
    log.warn({ task: id, stage: row.stage, error: String(error) }, 'a research task is tried again')
    const delay = Math.min(FIRST_RETRY_MS * 2 ** row.attempts, MAX_TASK_RETRY_MS)
    const runAfter = now() + Math.round(delay * (0.5 + Math.random() / 2))
    await this.#untilWritten('when a research task is tried again', () =>
      db.write(() => deferTask(claim, isTemporaryError(error) ? 0 : 1, runAfter)),
    )
    this.wake(delay)
  }

  #untilWritten<T>(subject: string, write: () => Promise<T>): Promise<T> {
    return retryUntilWritten(this.context, subject, this.stopSignal, write)
  }
}
