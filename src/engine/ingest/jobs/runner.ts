import { BackgroundService, IDLE_POLL_MS } from '../../base/background-service.js'
import { retryUntilWritten } from '../../base/retry-until-written.js'
import {
  describeError,
  type EngineContext,
  findFinalFailure,
  getWaitDelay,
  isTemporaryError,
  MAX_JOB_RETRY_DELAY_MS,
  mayBePoison,
  runInSpace,
  toJobFailure,
} from '../../library/index.js'
import type { Read } from '../../store/program.js'
import { countValidClaims, releaseClaims } from '../../store/rows/job-claims.js'
import { countOpenJobs, filterSettledJobs } from '../../store/rows/jobs.js'
import { findSpaceByKey, type SpaceRow } from '../../store/rows/spaces.js'
import { isWriteStopped, readUnlessDamaged } from '../../store/write-stop.js'
import { compileBatch, failJob, removeFromIndex } from '../compile/pipeline.js'
import { Publications } from '../compile/publications.js'
import { isTrainingDue, retrain } from '../compile/training.js'
import { VectorAudits } from '../compile/vector-audit.js'
import type { CompileWork } from '../compile/work.js'
import { claimBatch, findNextBatch, isSuspect } from './batch.js'
import { type ReleaseReason, releaseJobs } from './release.js'
import { countExtraJobs, filterCompiling, type RunningBatch } from './running.js'

/** one batch is parsed while another is stored */
const MAX_PARALLEL_BATCHES = 2
/** interval for awaited jobs that another gateway may be running */
const AWAITED_POLL_MS = 1000
/** a space counts as idle this long after its last batch: between two uploads the queue is often empty */
const QUIET_MS = 3000

type PurgeSlice = (context: EngineContext, signal: AbortSignal) => Promise<boolean>

/**
 * Runs compilation jobs. The table is the queue, and claims are its rows: they end with their gateway. Spaces take
 * turns.
 */
export class JobRunner extends BackgroundService<EngineContext> {
  protected override readonly failureMessage = 'no job could be claimed; retrying'
  readonly #running = new Map<Promise<void>, RunningBatch>()
  readonly #publications: Publications
  readonly #purgeSlice: PurgeSlice
  /** spaces whose model is trained */
  readonly #trainings = new Set<number>()
  readonly #audits: VectorAudits
  readonly #lastBatchAt = new Map<number, number>()
  readonly #spacesToCheck = new Set<number>()
  readonly #failedTraining = new Map<number, number>()
  readonly #waiters = new Map<string, Set<() => void>>()
  #lastSpace = 0
  #isPurging = false

  /** @param purgeSlice removes some deleted or expired data, and returns whether there is more to do */
  constructor(context: EngineContext, purgeSlice: PurgeSlice) {
    super(context)
    this.#purgeSlice = purgeSlice
    this.#publications = new Publications(context, (key) =>
      filterCompiling(this.#running.values()).some(({ spaceKey }) => spaceKey === key),
    )
    this.#audits = new VectorAudits(context, (key) => this.#checkLater(key))
  }

  override start(): void {
    this.#audits.start()
    super.start()
  }

  protected override intervalMs(): number {
    return this.context.isShared && this.#waiters.size > 0 ? AWAITED_POLL_MS : IDLE_POLL_MS
  }

  /** Starts a tick soon. @param spaceKey of a space whose model may be due for training */
  wakeFor(spaceKey?: number): void {
    if (spaceKey !== undefined) this.#checkLater(spaceKey)
    this.wake()
  }

  async activity(): Promise<{ activeJobs: number; waitingJobs: number; training: number }> {
    const open = await readUnlessDamaged(this.context.db.read(countOpenJobs()), 0)
    const active = filterCompiling(this.#running.values()).reduce((sum, batch) => sum + batch.jobs, 0)
    return { activeJobs: active, waitingJobs: Math.max(0, open - active), training: this.#trainings.size }
  }

  /** Resolves when a job has ended in any way, or waits for a problem that may last for days. */
  waitUntilSettled(jobId: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiters.get(jobId) ?? new Set()
      waiting.add(resolve)
      this.#waiters.set(jobId, waiting)
      this.#notifySettled([jobId]).catch(reject)
      // another gateway may end the job, and sends no notification
      if (this.context.isShared) this.wake()
    })
  }

  /** Takes no new work and waits until running work has stopped at a durable step. */
  override async stop(): Promise<void> {
    await Promise.all([super.stop(), this.#audits.stop()])
  }

  protected override async tick(): Promise<void> {
    await this.#notifySettled([...this.#waiters.keys()])
    // on a full disk the remaining space is reserved for reads and removals
    while (
      !isWriteStopped(this.context) &&
      !this.isStopped &&
      filterCompiling(this.#running.values()).length < MAX_PARALLEL_BATCHES &&
      !this.#runsSuspect()
    ) {
      const claimed = await this.#claim()
      if (claimed === undefined) break
      this.#launch(claimed.spaceKey, claimed.work)
    }
    if (this.#running.size === 0 && !this.isStopped) this.#purge()
  }

  #runsSuspect(): boolean {
    return [...this.#running.values()].some(({ isAlone }) => isAlone)
  }

  #launch(spaceKey: number, work: CompileWork[]): void {
    const running: RunningBatch = {
      spaceKey,
      jobs: work.length,
      isAlone: work.some(({ job }) => isSuspect(job)),
      isStored: false,
      isWaiting: false,
    }
    const onStored = (isWaiting: boolean) => {
      Object.assign(running, { isStored: true, isWaiting })
      this.wake()
    }
    const run = runInSpace(this.context.db, spaceKey, () => this.#runBatch(spaceKey, work, onStored))
      .catch((error: unknown) => this.context.log.error({ error: String(error) }, 'a batch of jobs could not be ended'))
      .finally(() => {
        this.#running.delete(run)
        this.#lastBatchAt.set(spaceKey, performance.now())
        this.#notifySettled(work.map(({ job }) => job.id)).catch((error: unknown) =>
          this.context.log.warn({ error: describeError(error) }, 'waiters for jobs are notified later'),
        )
        this.#maybeTrain(spaceKey)
        this.wake()
      })
    this.#running.set(run, running)
    this.track(run)
  }

  async #runBatch(spaceKey: number, work: CompileWork[], onStored: (isWaiting: boolean) => void): Promise<void> {
    const { db, log, foregroundPriority } = this.context
    await foregroundPriority.yieldToQueries()
    const space = await db.read(findSpaceByKey(spaceKey))
    if (space === undefined) return
    try {
      await compileBatch(this.context, space, work, {
        signal: this.stopSignal,
        publications: this.#publications,
        onStored,
      })
    } catch (error) {
      if (this.isStopped) {
        await this.#release(work)
        return
      }
      log.warn({ space: space.id, jobs: work.length, error: describeError(error) }, 'a batch failed and is retried')
      await this.#retryLater(space.key, work, error)
    } finally {
      await this.#releaseLeftover(work)
    }
  }

  /** Releases claims that are left after a batch: otherwise no gateway would take the jobs before the next start. */
  async #releaseLeftover(work: CompileWork[]): Promise<void> {
    const { db, instance, log } = this.context
    if (this.isStopped) return
    const claims = work.map(({ job }) => job)
    const jobs = await db.read(countValidClaims(instance, claims))
    if (jobs === 0) return
    log.warn({ jobs }, 'claims were left after a batch and are released')
    await this.#retryUntilWritten('the claims of a batch', () => db.write(() => releaseClaims(instance, claims)))
  }

  #retryUntilWritten<T>(what: string, write: () => Promise<T>): Promise<T> {
    return retryUntilWritten(this.context, what, this.stopSignal, write)
  }

  async #retryLater(spaceKey: number, work: CompileWork[], error: unknown): Promise<void> {
    const space = await this.context.db.read(findSpaceByKey(spaceKey))
    const failure = toJobFailure(error)
    const isTemporary = isTemporaryError(error)
    this.context.options.diskReserve?.noteError(error)
    const retryable: CompileWork[] = []
    for (const item of work) {
      const reason = findFinalFailure(item.job, failure, isTemporary, this.context.now())
      if (reason === undefined) retryable.push(item)
      else if (space !== undefined)
        await this.#retryUntilWritten('the end of a job', () => failJob(this.context, space, item, reason))
    }
    const lastEntry = await this.#release(retryable, { failure, isTemporary, startsOver: mayBePoison(error) })
    if (space !== undefined) await removeFromIndex(this.context, space, lastEntry)
  }

  /**
   * Releases claims. Failed jobs are deferred; a temporary problem counts as no attempt.
   *
   * @returns the index log's last entry for nodes of jobs that start over
   */
  async #release(work: CompileWork[], releaseReason?: ReleaseReason): Promise<number> {
    const { db, now } = this.context
    const [first] = work
    if (first === undefined) return 0
    // all jobs are of one space; the stored data of jobs that start over are removed
    const write = () => db.write(() => releaseJobs(work, now(), releaseReason), { lock: first.job.space_key })
    // a stop does not wait for disk space: the next start releases the claims of this process
    const lastEntry = await (releaseReason === undefined
      ? write()
      : this.#retryUntilWritten('when jobs are tried again', write))
    await this.#notifySettled(work.map(({ job }) => job.id))
    return lastEntry
  }

  /** Claims the next batch, of the next space in turn. */
  async #claim(): Promise<{ spaceKey: number; work: CompileWork[] } | undefined> {
    const { db } = this.context
    const next = await db.read(findNextBatch(this.context, this.#lastSpace, countExtraJobs(this.#running.values())))
    if (next === undefined) return undefined
    // the suspect is claimed when the running batches have ended
    if (this.#running.size > 0 && next.work.some(({ job }) => isSuspect(job))) return undefined
    this.#lastSpace = next.spaceKey
    const { spaceKey, work } = next
    const extraJobs = countExtraJobs(this.#running.values())
    const claimed = await db.write(() => claimBatch(this.context, spaceKey, work, extraJobs))
    for (const { job } of claimed)
      this.context.measures.recordClaim(this.context.now() - Math.max(job.created_at, job.run_after))
    return { spaceKey, work: claimed }
  }

  /** Trains the model of a space, or fills missing vectors, if that is due. */
  #maybeTrain(spaceKey: number): void {
    runInSpace(this.context.db, spaceKey, () => this.#trainIfDue(spaceKey)).catch((error: unknown) =>
      this.context.log.warn({ error: describeError(error) }, 'could not check whether a model is due'),
    )
  }

  async #trainIfDue(spaceKey: number): Promise<void> {
    const context = this.context
    if (this.isStopped || this.#mustWait(spaceKey)) return
    const busy = this.#isBusy(spaceKey)
    const maintenance = await context.db.read(findMaintenance(context, this.#audits, spaceKey, busy))
    if (maintenance === undefined || this.isStopped || this.#mustWait(spaceKey)) return
    const { space, due, lacks } = maintenance
    if (!due && !lacks) {
      if (busy) this.#checkLater(spaceKey)
      else this.#audits.ended(spaceKey)
      return
    }
    this.#trainings.add(spaceKey)
    const training = (due ? retrain : this.#audits.fill)(context, spaceKey, this.stopSignal, busy)
      .catch((error: unknown) => {
        if (this.isStopped) return
        this.#failedTraining.set(
          spaceKey,
          performance.now() + (isTemporaryError(error) ? getWaitDelay(0) : MAX_JOB_RETRY_DELAY_MS),
        )
        context.log.warn({ space: space.id, error: describeError(error) }, 'training the embedding model failed')
      })
      .finally(() => {
        this.#trainings.delete(spaceKey)
        this.#maybeTrain(spaceKey)
        this.wake() // the vectors of the previous model left free space in the file
      })
    this.track(training)
  }

  /** Whether no training may start now: one model at a time, and none that has just failed. Schedules another check. */
  #mustWait(spaceKey: number): boolean {
    if (this.#trainings.has(spaceKey)) return true
    const failed = (this.#failedTraining.get(spaceKey) ?? 0) > performance.now()
    if (this.#trainings.size === 0 && !isWriteStopped(this.context) && !failed) return false
    this.#checkLater(spaceKey)
    return true
  }

  #isBusy(spaceKey: number): boolean {
    const quietAt = (this.#lastBatchAt.get(spaceKey) ?? Number.NEGATIVE_INFINITY) + QUIET_MS
    return performance.now() < quietAt || [...this.#running.values()].some((batch) => batch.spaceKey === spaceKey)
  }

  /** Schedules another check for the time when the space may be idle. */
  #checkLater(spaceKey: number): void {
    const isPlanned = this.#spacesToCheck.size > 0
    this.#spacesToCheck.add(spaceKey)
    if (isPlanned) return
    this.runAfter(QUIET_MS, () => {
      const spaces = [...this.#spacesToCheck]
      this.#spacesToCheck.clear()
      for (const key of spaces) this.#maybeTrain(key)
    })
  }

  #purge(): void {
    if (this.#isPurging) return
    this.#isPurging = true
    const purging = this.#purgeSlice(this.context, this.stopSignal)
      .then((more) => {
        if (more) this.wake()
      })
      .catch((error: unknown) => this.context.log.warn({ error: describeError(error) }, 'removing deleted rows failed'))
      .finally(() => {
        this.#isPurging = false
      })
    this.track(purging)
  }

  /** Notifies those who wait for jobs that have settled. */
  async #notifySettled(jobIds: string[]): Promise<void> {
    const awaited = jobIds.filter((id) => this.#waiters.has(id))
    if (awaited.length === 0) return
    for (const id of await this.context.db.read(filterSettledJobs(awaited, isWriteStopped(this.context)))) {
      const waiting = this.#waiters.get(id)
      this.#waiters.delete(id)
      for (const resolve of waiting ?? []) resolve()
    }
  }
}

/** The maintenance of a space after its jobs: training of its model, or filling of missing vectors. */
function* findMaintenance(
  context: EngineContext,
  audits: VectorAudits,
  spaceKey: number,
  busy: boolean,
): Read<{ space: SpaceRow; due: boolean; lacks: boolean } | undefined> {
  const space = yield* findSpaceByKey(spaceKey)
  if (space === undefined) return undefined
  const due = yield* isTrainingDue(context, space, busy)
  return { space, due, lacks: !due && !busy && (yield* audits.isDue(space)) }
}
