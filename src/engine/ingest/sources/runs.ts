import pLimit from 'p-limit'
import { type ErrorCode, KsError } from '../../../contract/errors.js'
import type { Caller } from '../../base/caller.js'
import { retryUntilWritten } from '../../base/retry-until-written.js'
import type { EngineContext } from '../../library/index.js'
import { EgressFailure } from '../../models/index.js'
import type { Write } from '../../store/program.js'
import { claimSync, endSync, type SyncClaim } from '../../store/rows/source-syncs.js'
import type { SourceRow } from '../../store/rows/sources.js'
import type { ImportContext } from './import-items.js'
import { computeNextSync } from './schedule.js'
import { type SyncCounts, type SyncSummary, toSyncSummary } from './sync-summary.js'

const MAX_CONCURRENT_RUNS = 4
/** Delay of a scheduled sync after it met a full disk: it starts when there is space. */
const DISK_FULL_RETRY_MS = 15_000

/** Work that reads a source, and the error code of its failure. */
export interface SourceWork<T> {
  trigger: SyncSummary['trigger']
  failure: ErrorCode
  /** only a part of a sync: the next sync keeps its time */
  isPart: boolean
  run(place: ImportContext): Promise<{ value: T; counts: SyncCounts }>
}

interface SourceRun {
  result: Promise<unknown>
  stop: AbortController
}

/** Running crawls and imports, one at a time for each source. */
export class SourceRuns {
  readonly #context: EngineContext
  readonly #settled: (jobId: string) => Promise<void>
  readonly #running = new Map<string, SourceRun>()
  readonly #limit = pLimit(MAX_CONCURRENT_RUNS)
  /** ends of syncs that a full disk deferred, by source */
  readonly #deferredEnds = new Map<string, () => Write<void>>()
  readonly #closing = new AbortController()

  /** @param settled resolves when a compilation job has ended */
  constructor(context: EngineContext, settled: (jobId: string) => Promise<void>) {
    this.#context = context
    this.#settled = settled
  }

  get size(): number {
    return this.#running.size
  }

  /** Resolves when the run of a source has ended, with any outcome; undefined where none runs. */
  whenEnded(sourceId: string): Promise<void> | undefined {
    return this.#running.get(sourceId)?.result.then(
      () => undefined,
      () => undefined,
    )
  }

  /** Aborts the run of a source, and waits for its end. */
  async stop(sourceId: string, reason: string): Promise<void> {
    this.#running.get(sourceId)?.stop.abort(new EgressFailure(reason))
    await this.whenEnded(sourceId)
  }

  /** To be called when other gateways consider this one dead and take over its runs. */
  lost(): void {
    for (const { stop } of this.#running.values()) stop.abort(new EgressFailure('another process took it over'))
  }

  async stopAll(reason: string): Promise<void> {
    this.#closing.abort(new EgressFailure(reason))
    await Promise.all([...this.#running.keys()].map((id) => this.stop(id, reason)))
  }

  /** Starts work on a source without a run. @throws KsError of the work, or with its `failure` code */
  start<T>(caller: Caller, spaceId: string, source: SourceRow, work: SourceWork<T>): Promise<T> {
    const stop = new AbortController()
    if (this.#closing.signal.aborted) stop.abort(this.#closing.signal.reason)
    const run = { caller, spaceId, source, signal: stop.signal }
    const result = this.#limit(() => this.#run(run, work)).finally(() => this.#running.delete(source.id))
    this.#running.set(source.id, { result, stop })
    return result
  }

  async #run<T>(run: Omit<ImportContext, 'context' | 'settled'>, work: SourceWork<T>): Promise<T> {
    const { source, signal } = run
    const context = this.#context
    const { db, log, now } = context
    const claim = signal.aborted ? undefined : await this.#claim(source, work.isPart)
    if (claim === undefined)
      throw toRunError(work.failure, source, 'it was disabled or deleted meanwhile, or is being read elsewhere')
    try {
      const settled = (jobId: string) => abortable(this.#settled(jobId), signal)
      const { value, counts } = await work.run({ ...run, context, settled })
      const summary = JSON.stringify(toSyncSummary(counts, work.trigger, now()))
      await db.write(() => endSync(source, claim, { summary }, now()))
      return value
    } catch (error) {
      const isKnown = error instanceof EgressFailure || error instanceof KsError
      if (!isKnown) log.error({ source: source.id, error: String(error) }, 'a source could not be read')
      const reason = isKnown ? error.message : 'an unexpected failure'
      await this.#fail(source, claim, reason, error)
      if (error instanceof KsError && error.code !== 'unavailable') throw error
      throw toRunError(work.failure, source, reason)
    }
  }

  async #claim(source: SourceRow, isPart: boolean): Promise<SyncClaim | undefined> {
    const { db, instance, now } = this.#context
    const at = now()
    const nextAt = isPart ? source.next_sync_at : computeNextSync(source, at)
    const deferredEnd = this.#deferredEnds.get(source.id)
    this.#deferredEnds.delete(source.id)
    try {
      return await db.write(function* () {
        if (deferredEnd !== undefined) yield* deferredEnd()
        return yield* claimSync(source, instance, nextAt, at)
      })
    } catch (error) {
      if (deferredEnd !== undefined) this.#deferEnd(source, deferredEnd)
      throw error
    }
  }

  async #fail(source: SourceRow, claim: SyncClaim, reason: string, cause: unknown): Promise<void> {
    const { db, now } = this.#context
    const at = now()
    const retry = cause instanceof KsError && cause.code === 'storage-full' ? { retryAt: at + DISK_FULL_RETRY_MS } : {}
    const end = () => endSync(source, claim, { error: reason, ...retry }, at)
    await db.write(end).catch(() => this.#deferEnd(source, end))
  }

  /** Defers the end of a sync until the disk accepts it: no new sync of the source starts before that. */
  #deferEnd(source: SourceRow, end: () => Write<void>): void {
    const { db } = this.#context
    const isDeferred = () => this.#deferredEnds.get(source.id) === end
    this.#deferredEnds.set(source.id, end)
    const write = () => db.write<void>(() => (isDeferred() ? end() : undefined))
    retryUntilWritten(this.#context, 'the end of a sync', this.#closing.signal, write).then(
      () => isDeferred() && this.#deferredEnds.delete(source.id),
      // when the daemon stops: the next start ends it
      () => undefined,
    )
  }
}

export function toRunError(code: ErrorCode, source: SourceRow, reason: string): KsError {
  const what = code === 'crawl-failed' ? 'crawled' : 'read'
  return new KsError(code, `source ${source.id} could not be ${what}: ${reason}`)
}

/** A promise that rejects as soon as the signal aborts. */
function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
