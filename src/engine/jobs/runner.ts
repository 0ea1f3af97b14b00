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
/** between two looks at jobs that somebody waits for and another gateway may be at */
const AWAITED_POLL_MS = 1000
/** a space counts as idle this long after its last batch: between two uploads the queue is often empty */
const QUIET_MILLISECONDS = 3000

/** Runs compilation jobs. The table is the queue, and claims are its rows: they end with their gateway. Spaces take turns. */
export class JobRunner {
  readonly #context: EngineContext
  readonly #stop = new AbortController()
  readonly #turns = createTurns(
    () => this.#turn(),
    (error) => this.#context.log.warn({ error: describe(error) }, 'no job could be taken; it is tried again'),
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

  /** Looks for work soon. @param spaceKey whose model may be due */
  wake(spaceKey?: number): void {
    if (spaceKey !== undefined) this.#lookAgain(spaceKey)
    this.#turns.wake()
  }

  async activity(): Promise<{ activeJobs: number; waitingJobs: number; training: number }> {
    const open = await readUnlessDamaged(this.#context.db.read(countOpen()), 0)
    const active = compiling(this.#running.values()).reduce((sum, batch) => sum + batch.jobs, 0)
    return { activeJobs: active, waitingJobs: Math.max(0, open - active), training: this.#trainingOf.size }
  }

  /** Resolves when a job has ended, however, or waits for what may take days to pass. */
  settled(jobId: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = this.#settled.get(jobId) ?? new Set()
      waiting.add(resolve)
      this.#settled.set(jobId, waiting)
      this.#tellSettled([jobId]).catch(reject)
      // another gateway may end it, which nobody tells
      if (this.#context.isShared) this.wake()
    })
  }

  /** Takes no new work and waits until what runs has stopped at a durable step. */
  async close(): Promise<void> {
    this.#stop.abort(new KsError('unavailable', 'the daemon is stopping'))
    clearTimeout(this.#quietTimer)
    await this.#turns.stop()
    await Promise.allSettled([...this.#running.keys(), ...this.#trainingOf.values(), this.#purging])
  }

  async #turn(): Promise<void> {
    await this.#tellSettled([...this.#settled.keys()])
    // what room is left on a full disk is for those who read and those who remove
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
          this.#context.log.warn({ error: describe(error) }, 'who waits for jobs is told later'),
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
      log.warn({ space: space.id, jobs: work.length, error: describe(error) }, 'a batch failed and is tried again')
      await this.#retryLater(space.key, work, error)
    } finally {
      await this.#freeLeftOver(work)
    }
  }

  /** No claim outlives its batch, whatever became of the batch: nobody would take the job up before the next start. */
  async #freeLeftOver(work: Work[]): Promise<void> {
    const { db, instance, log } = this.#context
    if (this.#stop.signal.aborted) return
    const claims = work.map(({ job }) => job)
    const jobs = await db.read(countClaimed(instance, claims))
    if (jobs === 0) return
    log.warn({ jobs }, 'jobs were left by their batch and are taken up again')
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
   * Gives claims back. What failed waits a while; what passes by itself counts as no try.
   *
   * @returns the log's last entry for what the index has to forget of jobs that begin anew
   */
  async #release(work: Work[], why?: Why): Promise<number> {
    const { db, now } = this.#context
    const [first] = work
    if (first === undefined) return 0
    // all of one space: what is stored of a job that begins anew goes
    const write = () => db.write(() => release(work, now(), why), { lock: first.job.space_key })
    // a stop does not wait for room on the disk: the next start finds the claims of this process and frees them
    const dropped = await (why === undefined ? write() : this.#untilWritten('when jobs are tried again', write))
    await this.#tellSettled(work.map(({ job }) => job.id))
    return dropped
  }

  /** The next batch of the space whose turn it is. */
  async #claim(): Promise<{ spaceKey: number; work: Work[] } | undefined> {
    const { db } = this.#context
    const next = await db.read(nextBatch(this.#context, this.#lastSpace, besideCompiling(this.#running.values())))
    if (next === undefined) return undefined
    // it has its turn when what runs has ended
    if (this.#running.size > 0 && next.work.some(({ job }) => isSuspect(job))) return undefined
    this.#lastSpace = next.spaceKey
    const { spaceKey, work } = next
    const beside = besideCompiling(this.#running.values())
    const claimed = await db.write(() => claim(this.#context, spaceKey, work, beside))
    for (const { job } of claimed) this.#context.measures.claimed(Date.now() - Math.max(job.created_at, job.run_after))
    return { spaceKey, work: claimed }
  }

  /** Trains the model of a space, or fills what lacks vectors, where that is due. */
  #maybeTrain(spaceKey: number): void {
    inSpace(this.#context.db, spaceKey, () => this.#trainIfDue(spaceKey)).catch((error: unknown) =>
      this.#context.log.warn({ error: describe(error) }, 'whether a model is due could not be looked up'),
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
        this.wake() // the vectors of the model before left room in the file
      })
    this.#trainingOf.set(spaceKey, training)
  }

  /** Whether nothing is trained now: one model at a time, and none that has just failed. It is looked again. */
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

  /** Asks once more when the space may have become quiet. */
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

  /** Tells those who wait for jobs of those that have settled. */
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

/** What is to be done behind the jobs of a space: train its model, or fill what lacks a vector. */
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
