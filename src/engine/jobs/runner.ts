import { KsError } from '../../contract/errors.js'
import type { Lease } from '../base/leases.js'
import { createTurns } from '../base/turns.js'
import { untilWritten } from '../base/until-written.js'
import { compileBatch, failJob, forget } from '../compile/pipeline.js'
import { retrain, trainingDue } from '../compile/training.js'
import { VectorAudits } from '../compile/vector-audit.js'
import type { Work } from '../compile/work.js'
import type { EngineContext } from '../context.js'
import {
  describe,
  type Failure,
  failureOf,
  givenUp,
  MAX_RETRY_MILLISECONDS,
  mayBePoison,
  passesByItself,
  pauseBefore,
  waitBefore,
} from '../queue/retry-policy.js'
import { purgeSlice } from '../retention/purge.js'
import { spaceByKey } from '../rows/spaces.js'
import { failRetryably, resumeCommit } from '../rows/staged-commits.js'
import type { IndexBatch } from '../search/ports.js'
import { quotasOf } from '../spaces/quota.js'
import { type Read, sql } from '../storage/program.js'
import { isWriteStopped, unlessDatabaseDamaged } from '../storage/write-stop.js'
import { BATCH_JOBS, DUE, isSuspect, selectBatch } from './batch.js'
import { recoverClaims } from './recovery.js'
import { startOver } from './start-over.js'

/** one batch is parsed while another is embedded and published */
const BATCHES_AT_ONCE = 2
/** a space counts as idle this long after its last batch: between two uploads the queue is often empty */
const QUIET_MILLISECONDS = 3000

/**
 * Runs compilation jobs. The table is the queue: this holds claims, which end with the process. Spaces take turns.
 */
export class JobRunner {
  readonly #context: EngineContext
  readonly #stop = new AbortController()
  readonly #turns = createTurns(
    () => this.#turn(),
    (error) => this.#context.log.warn({ error: describe(error) }, 'no job could be taken; it is tried again'),
  )
  readonly #running = new Map<Promise<void>, { spaceKey: number; jobs: number; isAlone: boolean }>()
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
    this.#audits = new VectorAudits(context, this.#stop.signal, (key) => this.#lookAgain(key))
  }

  /** Gives up the claims of a process that died, and starts. */
  start(): void {
    recoverClaims(this.#context)
    this.#audits.start()
    this.wake()
  }

  /** Looks for work soon. @param spaceKey whose model may be due */
  wake(spaceKey?: number): void {
    if (spaceKey !== undefined) this.#lookAgain(spaceKey)
    this.#turns.wake()
  }

  activity(): { activeJobs: number; waitingJobs: number; training: number } {
    const active = [...this.#running.values()].reduce((sum, batch) => sum + batch.jobs, 0)
    const { db } = this.#context
    const open = unlessDatabaseDamaged(
      () => db.now(sql.get<{ n: number }>('SELECT count(*) n FROM jobs WHERE completed_at IS NULL'))?.n ?? 0,
      0,
    )
    return { activeJobs: active, waitingJobs: Math.max(0, open - active), training: this.#trainingOf.size }
  }

  /** Resolves when a job has ended, however, or waits for what may take days to pass. */
  settled(jobId: string): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#settled.get(jobId) ?? new Set()
      waiting.add(resolve)
      this.#settled.set(jobId, waiting)
      this.#context.db.now(this.#tellSettled([jobId]))
    })
  }

  /** Takes no new work and waits until what runs has stopped at a durable step. */
  async close(): Promise<void> {
    this.#stop.abort(new KsError('unavailable', 'the daemon is stopping'))
    this.#turns.stop()
    clearTimeout(this.#quietTimer)
    await Promise.allSettled([...this.#running.keys(), ...this.#trainingOf.values(), this.#purging])
  }

  #turn(): void {
    this.#context.db.now(this.#tellSettled([...this.#settled.keys()]))
    // what room is left on a full disk is for those who read and those who remove
    while (!this.#isStopped() && this.#running.size < BATCHES_AT_ONCE && !this.#runsSuspect()) {
      const claimed = this.#claim()
      if (claimed === undefined) break
      this.#launch(claimed.spaceKey, claimed.work)
    }
    if (this.#running.size === 0) this.#purge()
  }

  #runsSuspect(): boolean {
    return [...this.#running.values()].some(({ isAlone }) => isAlone)
  }

  #isStopped(): boolean {
    return isWriteStopped(this.#context)
  }

  #launch(spaceKey: number, work: Work[]): void {
    const run = this.#runBatch(spaceKey, work)
      .catch((error: unknown) =>
        this.#context.log.error({ error: String(error) }, 'a batch of jobs could not be ended'),
      )
      .finally(() => {
        this.#running.delete(run)
        this.#lastBatch.set(spaceKey, performance.now())
        this.#context.db.now(this.#tellSettled(work.map(({ job }) => job.id)))
        this.#maybeTrain(spaceKey)
        this.wake()
      })
    this.#running.set(run, { spaceKey, jobs: work.length, isAlone: work.some(({ job }) => isSuspect(job)) })
  }

  async #runBatch(spaceKey: number, work: Work[]): Promise<void> {
    const { db, log, rightOfWay } = this.#context
    await rightOfWay.giveWay()
    const space = db.now(spaceByKey(spaceKey))
    if (space === undefined) return
    for (const item of work) item.lease = this.#hold(item)
    try {
      await compileBatch(this.#context, space, work, this.#stop.signal)
    } catch (error) {
      if (this.#stop.signal.aborted) {
        await this.#release(work)
        return
      }
      log.warn({ space: space.id, jobs: work.length, error: describe(error) }, 'a batch failed and is tried again')
      await this.#retryLater(space.key, work, error)
    } finally {
      for (const { lease } of work) lease?.release()
      await this.#freeLeftOver(work)
    }
  }

  /** No claim outlives its batch, whatever became of the batch: nobody would take the job up before the next start. */
  async #freeLeftOver(work: Work[]): Promise<void> {
    const { db, instance, log } = this.#context
    if (this.#stop.signal.aborted) return
    const keys = JSON.stringify(work.map(({ job }) => job.key))
    const left = 'claimed_by = ? AND completed_at IS NULL AND key IN (SELECT value FROM json_each(?))'
    const jobs = db.now(sql.get<{ n: number }>(`SELECT count(*) n FROM jobs WHERE ${left}`, [instance, keys]))?.n ?? 0
    if (jobs === 0) return
    log.warn({ jobs }, 'jobs were left by their batch and are taken up again')
    await this.#untilWritten('the claims of a batch', () =>
      db.write(() => sql.run(`UPDATE jobs SET claimed_by = NULL WHERE ${left}`, [instance, keys])),
    )
  }

  #untilWritten<T>(what: string, write: () => Promise<T>): Promise<T> {
    return untilWritten(this.#context, what, this.#stop.signal, write)
  }

  #hold({ job, document }: Work): Lease {
    const lease = this.#context.leases.acquire({
      spaceKey: job.space_key,
      sessionId: job.id,
      type: job.version > 1 ? 'reindex' : 'publish',
      targetType: 'document',
      targetId: document.id,
      targetVersion: job.version,
      virtualPath: `/knowledge/documents/${document.id}`,
    })
    lease.keepAlive()
    return lease
  }

  async #retryLater(spaceKey: number, work: Work[], error: unknown): Promise<void> {
    const space = this.#context.db.now(spaceByKey(spaceKey))
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
    if (space !== undefined) for (const batch of dropped) await forget(this.#context, space, batch)
  }

  /**
   * Gives claims back. What failed waits a while; what passes by itself counts as no try.
   *
   * @returns what the index has to forget of jobs that begin anew
   */
  async #release(work: Work[], why?: { failure: Failure; passes: boolean; fromStart: boolean }): Promise<IndexBatch[]> {
    const { db, now } = this.#context
    if (work.length === 0) return []
    const write = () => {
      const dropped: IndexBatch[] = []
      for (const { job } of work) {
        const retryAt =
          why === undefined ? 0 : Date.now() + (why.passes ? waitBefore(job.waits) : pauseBefore(job.attempts))
        db.now(
          sql.run('UPDATE jobs SET claimed_by = NULL, run_after = ? WHERE key = ? AND completed_at IS NULL', [
            retryAt,
            job.key,
          ]),
        )
        if (why === undefined) continue
        const { passes, failure } = why
        db.now(
          sql.run(
            `UPDATE jobs SET error = ?, attempts = attempts + ?, waits = CASE WHEN ? THEN waits + 1 ELSE 0 END,
             waiting_since = CASE WHEN ? THEN coalesce(waiting_since, ?) END WHERE key = ? AND completed_at IS NULL`,
            [failure.message, passes ? 0 : 1, passes ? 1 : 0, passes ? 1 : 0, now(), job.key],
          ),
        )
        db.now(failRetryably(job.id, failure, retryAt, passes ? 0 : 1))
        const batch = why.fromStart ? db.now(startOver(job)) : undefined
        if (batch !== undefined) dropped.push(batch)
      }
      return dropped
    }
    // a stop does not wait for room on the disk: the next start finds the claims of this process and frees them
    const dropped = await (why === undefined
      ? db.write(write)
      : this.#untilWritten('when jobs are tried again', () => db.write(write)))
    db.now(this.#tellSettled(work.map(({ job }) => job.id)))
    return dropped
  }

  /** How many more jobs of a space may run now, by its quota. */
  #room(spaceKey: number): number {
    const space = this.#context.db.now(spaceByKey(spaceKey))
    const limit = space === undefined ? BATCH_JOBS : quotasOf(this.#context, space).maxActiveJobCount
    const running = [...this.#running.values()].filter((batch) => batch.spaceKey === spaceKey)
    return limit - running.reduce((sum, batch) => sum + batch.jobs, 0)
  }

  /** The next batch of the space whose turn it is. */
  #claim(): { spaceKey: number; work: Work[] } | undefined {
    const { db, instance } = this.#context
    const now = Date.now()
    const full = JSON.stringify(
      [...this.#running.values()].map((batch) => batch.spaceKey).filter((key) => this.#room(key) <= 0),
    )
    function* next(after: number) {
      return yield* sql.get<{ space_key: number }>(
        `SELECT space_key FROM jobs WHERE completed_at IS NULL AND claimed_by IS NULL AND space_key > ? AND ${DUE}
           AND space_key NOT IN (SELECT value FROM json_each(?))
         ORDER BY space_key LIMIT 1`,
        [after, now, now + MAX_RETRY_MILLISECONDS, full],
      )
    }
    const turn = db.now(next(this.#lastSpace)) ?? db.now(next(0))
    if (turn === undefined) return undefined
    const work = this.#context.db.now(
      selectBatch(turn.space_key, now, Math.min(BATCH_JOBS, this.#room(turn.space_key))),
    )
    if (work.length === 0) return undefined
    // it has its turn when what runs has ended
    if (this.#running.size > 0 && work.some(({ job }) => isSuspect(job))) return undefined
    this.#lastSpace = turn.space_key
    db.writeNow(function* () {
      for (const { job } of work) {
        yield* sql.run('UPDATE jobs SET claimed_by = ? WHERE key = ?', [instance, job.key])
        yield* resumeCommit(job.id)
      }
    })
    return { spaceKey: turn.space_key, work }
  }

  #maybeTrain(spaceKey: number): void {
    const context = this.#context
    const space = context.db.now(spaceByKey(spaceKey))
    if (space === undefined || this.#stop.signal.aborted) return
    if (this.#trainingOf.size > 0) {
      if (!this.#trainingOf.has(spaceKey)) this.#lookAgain(spaceKey)
      return
    }
    if (this.#isStopped() || (this.#failedTraining.get(spaceKey) ?? 0) > performance.now()) {
      this.#lookAgain(spaceKey)
      return
    }
    const quietAt = (this.#lastBatch.get(spaceKey) ?? Number.NEGATIVE_INFINITY) + QUIET_MILLISECONDS
    const busy = performance.now() < quietAt || [...this.#running.values()].some((batch) => batch.spaceKey === spaceKey)
    const due = context.db.now(trainingDue(context, space, busy))
    if (!due && (busy || !this.#audits.isDue(space))) {
      if (busy) this.#lookAgain(spaceKey)
      return
    }
    const training = (due ? retrain : this.#audits.fill)(context, spaceKey, this.#stop.signal)
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

  *#tellSettled(jobIds: string[]): Read<void> {
    for (const id of jobIds) {
      const waiting = this.#settled.get(id)
      if (waiting === undefined) continue
      const row = yield* sql.get<{ completed_at: number | null; isWaiting: number }>(
        'SELECT completed_at, waits > 0 OR (? AND claimed_by IS NULL) isWaiting FROM jobs WHERE id = ?',
        [this.#isStopped() ? 1 : 0, id],
      )
      if (row !== undefined && row.completed_at === null && row.isWaiting === 0) continue
      this.#settled.delete(id)
      for (const resolve of waiting) resolve()
    }
  }
}
