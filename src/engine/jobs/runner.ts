import { KsError } from '../../contract/errors.js'
import { createTurns, IDLE_POLL_MS } from '../base/turns.js'
import { untilWritten } from '../base/until-written.js'
import { compileBatch, failJob, forget } from '../compile/pipeline.js'
import { Publications } from '../compile/publications.js'
import { retrain, trainingDue } from '../compile/training.js'
import { VectorAudits } from '../compile/vector-audit.js'
import type { Work } from '../compile/work.js'
import type { EngineContext } from '../context.js'
import {
  describe,
  failureOf,
  givenUp,
  MAX_RETRY_MILLISECONDS,
  mayBePoison,
  passesByItself,
  waitBefore,
} from '../queue/retry-policy.js'
import { purgeSlice } from '../retention/purge.js'
import { countClaimed, dropClaims } from '../rows/job-claims.js'
import { countOpen, settledJobs } from '../rows/jobs.js'
import { type SpaceRow, spaceByKey } from '../rows/spaces.js'
import { inSpace } from '../spaces/in-space.js'
import type { Read } from '../storage/program.js'
import { isWriteStopped, readUnlessDamaged } from '../storage/write-stop.js'
import { claim, isSuspect, nextBatch } from './batch.js'
import { release, type Why } from './release.js'
import { besideCompiling, compiling, type Running } from './running.js'

/** one batch is parsed while another is stored */
const BATCHES_AT_ONCE = 2
/** interval for awaited jobs that another gateway may be running */
const AWAITED_POLL_MS = 1000
/** a space counts as idle this long after its last batch: between two uploads the queue is often empty */
const QUIET_MILLISECONDS = 3000

/**
 * Runs compilation jobs. The table is the queue, and claims are its rows: they end with their gateway. Spaces take
 * turns.
 */
export class JobRunner {
  readonly #context: EngineContext
  readonly #stop = new AbortController()
  readonly #turns = createTurns(
    () => this.#turn(),
    (error) => this.#context.log.warn({ error: describe(error) }, 'no job could be claimed; retrying'),
    () => (this.#context.isShared && this.#settled.size > 0 ? AWAITED_POLL_MS : IDLE_POLL_MS),
  )
  readonly #running = new Map<Promise<void>, Running>()
  readonly #publications: Publications
  readonly #trainingOf = new Map<number, Promise<void>>()
  readonly #audits: VectorAudits
  readonly #lastBatch = new Map<number, number>()
  readonly #restless = new Set<number>()
  readonly #failedTraining = new Map<number, number>()
  readonly #settled = new Map<string, Set<() => void>>()
  #lastSpace = 0
  #quietTimer: NodeJS.Timeout | undefined
  #purging: Promise<void> | undefined

  constructor(context: EngineContext) {
    this.#context = context
    this.#publications = new Publications(context, (key) =>
      compiling(this.#running.values()).some(({ spaceKey }) => spaceKey === key),
    )
    this.#audits = new VectorAudits(context, this.#stop.signal, (key) => this.#lookAgain(key))
  }

  start(): void {
    this.#audits.start()
    this.wake()
  }

  /** Starts a tick soon. @param spaceKey of a space whose model may be due for training */
  wake(spaceKey?: number): void {
    if (spaceKey !== undefined) this.#lookAgain(spaceKey)
    this.#turns.wake()
  }

  async activity(): Promise<{ activeJobs: number; waitingJobs: number; training: number }> {
    const open = await readUnlessDamaged(this.#context.db.read(countOpen()), 0)
    const active = compiling(this.#running.values()).reduce((sum, batch) => sum + batch.jobs, 0)
    return { activeJobs: active, waitingJobs: Math.max(0, open - active), training: this.#trainingOf.size }
  }

  /** Resolves when a job has ended in any way, or waits for a problem that may last for days. */
  settled(jobId: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = this.#settled.get(jobId) ?? new Set()
      waiting.add(resolve)
      this.#settled.set(jobId, waiting)
      this.#tellSettled([jobId]).catch(reject)
      // another gateway may end the job, and sends no notification
      if (this.#context.isShared) this.wake()
    })
  }

  /** Takes no new work and waits until running work has stopped at a durable step. */
  async close(): Promise<void> {
    this.#stop.abort(new KsError('unavailable', 'the daemon is stopping'))
    clearTimeout(this.#quietTimer)
    await this.#turns.stop()
    await Promise.allSettled([...this.#running.keys(), ...this.#trainingOf.values(), this.#purging])
  }

  async #turn(): Promise<void> {
    await this.#tellSettled([...this.#settled.keys()])
    // on a full disk the remaining space is reserved for reads and removals
    while (
      !this.#isStopped() &&
      !this.#stop.signal.aborted &&
      compiling(this.#running.values()).length < BATCHES_AT_ONCE &&
      !this.#runsSuspect()
    ) {
      const claimed = await this.#claim()
      if (claimed === undefined) break
      this.#launch(claimed.spaceKey, claimed.work)
    }
    if (this.#running.size === 0 && !this.#stop.signal.aborted) this.#purge()
  }

  #runsSuspect(): boolean {
    return [...this.#running.values()].some(({ isAlone }) => isAlone)
  }

  #isStopped(): boolean {
    return isWriteStopped(this.#context)
  }

  #launch(spaceKey: number, work: Work[]): void {
    const running: Running = {
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
    const run = inSpace(this.#context.db, spaceKey, () => this.#runBatch(spaceKey, work, onStored))
      .catch((error: unknown) =>
        this.#context.log.error({ error: String(error) }, 'a batch of jobs could not be ended'),
      )
      .finally(() => {
        this.#running.delete(run)
        this.#lastBatch.set(spaceKey, performance.now())
        this.#tellSettled(work.map(({ job }) => job.id)).catch((error: unknown) =>
          this.#context.log.warn({ error: describe(error) }, 'waiters for jobs are notified later'),
        )
        this.#maybeTrain(spaceKey)
        this.wake()
      })
    this.#running.set(run, running)
  }

  async #runBatch(spaceKey: number, work: Work[], onStored: (isWaiting: boolean) => void): Promise<void> {
    const { db, log, rightOfWay } = this.#context
    await rightOfWay.giveWay()
    const space = await db.read(spaceByKey(spaceKey))
    if (space === undefined) return
    try {
      await compileBatch(this.#context, space, work, this.#stop.signal, { publications: this.#publications, onStored })
    } catch (error) {
      if (this.#stop.signal.aborted) {
        await this.#release(work)
        return
      }
      log.warn({ space: space.id, jobs: work.length, error: describe(error) }, 'a batch failed and is retried')
      await this.#retryLater(space.key, work, error)
    } finally {
      await this.#freeLeftOver(work)
    }
  }

  /** Releases claims that are left after a batch: otherwise no gateway would take the jobs before the next start. */
  async #freeLeftOver(work: Work[]): Promise<void> {
    const { db, instance, log } = this.#context
    if (this.#stop.signal.aborted) return
    const claims = work.map(({ job }) => job)
    const jobs = await db.read(countClaimed(instance, claims))
    if (jobs === 0) return
    log.warn({ jobs }, 'claims were left after a batch and are released')
    await this.#untilWritten('the claims of a batch', () => db.write(() => dropClaims(instance, claims)))
  }

  #untilWritten<T>(what: string, write: () => Promise<T>): Promise<T> {
    return untilWritten(this.#context, what, this.#stop.signal, write)
  }

  async #retryLater(spaceKey: number, work: Work[], error: unknown): Promise<void> {
    const space = await this.#context.db.read(spaceByKey(spaceKey))
    const failure = failureOf(error)
    const passes = passesByItself(error)
    this.#context.options.room?.note(error)
    const again: Work[] = []
    for (const item of work) {
      const reason = givenUp(item.job, failure, passes, this.#context.now())
      if (reason === undefined) again.push(item)
      else if (space !== undefined)
        await this.#untilWritten('the end of a job', () => failJob(this.#context, space, item, reason))
    }
    const dropped = await this.#release(again, { failure, passes, fromStart: mayBePoison(error) })
    if (space !== undefined) await forget(this.#context, space, dropped)
  }

  /**
   * Releases claims. Failed jobs are deferred; a temporary problem counts as no attempt.
   *
   * @returns the index log's last entry for nodes of jobs that start over
   */
  async #release(work: Work[], why?: Why): Promise<number> {
    const { db, now } = this.#context
    const [first] = work
    if (first === undefined) return 0
    // all jobs are of one space; the stored data of jobs that start over are removed
    const write = () => db.write(() => release(work, now(), why), { lock: first.job.space_key })
    // a stop does not wait for disk space: the next start releases the claims of this process
    const dropped = await (why === undefined ? write() : this.#untilWritten('when jobs are tried again', write))
    await this.#tellSettled(work.map(({ job }) => job.id))
    return dropped
  }

  /** Claims the next batch, of the next space in turn. */
  async #claim(): Promise<{ spaceKey: number; work: Work[] } | undefined> {
    const { db } = this.#context
    const next = await db.read(nextBatch(this.#context, this.#lastSpace, besideCompiling(this.#running.values())))
    if (next === undefined) return undefined
    // the suspect is claimed when the running batches have ended
    if (this.#running.size > 0 && next.work.some(({ job }) => isSuspect(job))) return undefined
    this.#lastSpace = next.spaceKey
    const { spaceKey, work } = next
    const beside = besideCompiling(this.#running.values())
    const claimed = await db.write(() => claim(this.#context, spaceKey, work, beside))
    for (const { job } of claimed) this.#context.measures.claimed(Date.now() - Math.max(job.created_at, job.run_after))
    return { spaceKey, work: claimed }
  }

  /** Trains the model of a space, or fills missing vectors, if that is due. */
  #maybeTrain(spaceKey: number): void {
    inSpace(this.#context.db, spaceKey, () => this.#trainIfDue(spaceKey)).catch((error: unknown) =>
      this.#context.log.warn({ error: describe(error) }, 'could not check whether a model is due'),
    )
  }

  async #trainIfDue(spaceKey: number): Promise<void> {
    const context = this.#context
    if (this.#stop.signal.aborted || this.#mustWait(spaceKey)) return
    const busy = this.#isBusy(spaceKey)
    const found = await context.db.read(dueBehind(context, this.#audits, spaceKey, busy))
    if (found === undefined || this.#stop.signal.aborted || this.#mustWait(spaceKey)) return
    const { space, due, lacks } = found
    if (!due && !lacks) {
      if (busy) this.#lookAgain(spaceKey)
      else this.#audits.ended(spaceKey)
      return
    }
    const training = (due ? retrain : this.#audits.fill)(context, spaceKey, this.#stop.signal, busy)
      .catch((error: unknown) => {
        if (this.#stop.signal.aborted) return
        this.#failedTraining.set(
          spaceKey,
          performance.now() + (passesByItself(error) ? waitBefore(0) : MAX_RETRY_MILLISECONDS),
        )
        context.log.warn({ space: space.id, error: describe(error) }, 'training the embedding model failed')
      })
      .finally(() => {
        this.#trainingOf.delete(spaceKey)
        this.#maybeTrain(spaceKey)
        this.wake() // the vectors of the previous model left free space in the file
      })
    this.#trainingOf.set(spaceKey, training)
  }

  /** Whether no training may start now: one model at a time, and none that has just failed. Schedules another check. */
  #mustWait(spaceKey: number): boolean {
    if (this.#trainingOf.has(spaceKey)) return true
    const failed = (this.#failedTraining.get(spaceKey) ?? 0) > performance.now()
    if (this.#trainingOf.size === 0 && !this.#isStopped() && !failed) return false
    this.#lookAgain(spaceKey)
    return true
  }

  #isBusy(spaceKey: number): boolean {
    const quietAt = (this.#lastBatch.get(spaceKey) ?? Number.NEGATIVE_INFINITY) + QUIET_MILLISECONDS
    return performance.now() < quietAt || [...this.#running.values()].some((batch) => batch.spaceKey === spaceKey)
  }

  /** Schedules another check for the time when the space may be idle. */
  #lookAgain(spaceKey: number): void {
    this.#restless.add(spaceKey)
    this.#quietTimer ??= setTimeout(() => {
      this.#quietTimer = undefined
      const spaces = [...this.#restless]
      this.#restless.clear()
      for (const key of spaces) this.#maybeTrain(key)
    }, QUIET_MILLISECONDS).unref()
  }

  #purge(): void {
    this.#purging ??= purgeSlice(this.#context, this.#stop.signal)
      .then((more) => {
        if (more) setImmediate(() => this.wake())
      })
      .catch((error: unknown) => this.#context.log.warn({ error: describe(error) }, 'removing deleted rows failed'))
      .finally(() => {
        this.#purging = undefined
      })
  }

  /** Notifies those who wait for jobs that have settled. */
  async #tellSettled(jobIds: string[]): Promise<void> {
    const awaited = jobIds.filter((id) => this.#settled.has(id))
    if (awaited.length === 0) return
    for (const id of await this.#context.db.read(settledJobs(awaited, this.#isStopped()))) {
      const waiting = this.#settled.get(id)
      this.#settled.delete(id)
      for (const resolve of waiting ?? []) resolve()
    }
  }
}

/** The maintenance of a space after its jobs: training of its model, or filling of missing vectors. */
function* dueBehind(
  context: EngineContext,
  audits: VectorAudits,
  spaceKey: number,
  busy: boolean,
): Read<{ space: SpaceRow; due: boolean; lacks: boolean } | undefined> {
  const space = yield* spaceByKey(spaceKey)
  if (space === undefined) return undefined
  const due = yield* trainingDue(context, space, busy)
  return { space, due, lacks: !due && !busy && (yield* audits.isDue(space)) }
}
