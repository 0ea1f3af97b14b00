import { KsError } from '../../contract/errors.js'
import type { CompileListeners, CompileRequest, CompileResult, Compiler } from '../store/compiled.js'
import { type ReadingProcess, startReadingProcess } from './child-handle.js'
import { type CompileJob, createBatchSink, getSharedSize, hasWork, recordResult, shouldRetry } from './compile-job.js'
import { DEFAULT_LIMITS, type ReadLimits } from './limits.js'
import { toReadFailure } from './read-failure.js'
import type { BatchRun } from './run-batch.js'

export interface CompilerOptions {
  /** maximum number of reading processes; each starts when there is work for it. Default 1 */
  children?: number
  /** idle time after which a reading process ends. Default 30 s */
  idleMs?: number
  limits?: Partial<ReadLimits>
  /** folder of additional language data that reading processes may read */
  languagesFolder?: string | undefined
  /** a caller waits for each file: reading processes keep their normal priority. Default false */
  inForeground?: boolean
}

/** Bounds of a batch of small text files. */
const MAX_BATCH_FILES = 64
const MAX_BATCH_BYTES = 1024 * 1024
/** Processor time after which a batch of small files without a result contains one that hangs. */
const BATCH_STALL_MS = 10_000
/** Fraction of its memory limit above which a child is replaced after a batch. */
const RECYCLE_FRACTION = 0.5
/** Time in which an aborted batch may finish; then its process is killed. */
const ABORT_GRACE_MS = 500
const MAX_FAILED_STARTS = 3
/** The reading process is kept for this long after each `warm()`. */
const WARM_MS = 5 * 60_000

/** A lane runs at most one reading process. */
interface Lane {
  child: ReadingProcess | undefined
  /** set while a process starts */
  starting: Promise<ReadingProcess> | undefined
  job: CompileJob | undefined
  idle: NodeJS.Timeout | undefined
}

/**
 * Creates a compiler that reads files in child processes.
 *
 * Many small files share one message. A file that, read alone, kills its process repeatedly or makes it hang fails
 * alone (`crashed`, `timeout`, `limit-exceeded`); the other files of its batch are read again one by one. Concurrent
 * calls alternate batch by batch.
 *
 * `compile` rejects with the signal's reason on abort, and with `unavailable` when no process starts or the compiler is
 * closed.
 */
export function createCompiler(options: CompilerOptions = {}): Compiler {
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  return new ProcessCompiler(limits, options)
}

class ProcessCompiler implements Compiler {
  readonly #limits: ReadLimits
  readonly #idleMs: number
  readonly #inForeground: boolean
  readonly #folders: readonly string[]
  readonly #lanes: Lane[]
  #jobs: CompileJob[] = []
  #closed = false
  #failedStarts = 0
  #warmUntil = 0

  constructor(
    limits: ReadLimits,
    { children = 1, idleMs = 30_000, inForeground = false, languagesFolder }: CompilerOptions,
  ) {
    this.#limits = limits
    this.#idleMs = idleMs
    this.#inForeground = inForeground
    this.#folders = languagesFolder === undefined ? [] : [languagesFolder]
    this.#lanes = Array.from({ length: Math.max(1, children) }, () => ({
      child: undefined,
      starting: undefined,
      job: undefined,
      idle: undefined,
    }))
  }

  async compile(
    requests: CompileRequest[],
    signal?: AbortSignal,
    { onProgress = () => undefined, containedSink }: CompileListeners = {},
  ): Promise<CompileResult[]> {
    signal?.throwIfAborted()
    if (this.#closed) throw createClosedError()
    if (requests.length === 0) return []
    return new Promise<CompileResult[]>((resolve, reject) => {
      const onAbort = (): void => this.#abort(job, signal?.reason)
      const job: CompileJob = {
        requests,
        containedSink,
        results: new Array<CompileResult | undefined>(requests.length).fill(undefined),
        cursor: 0,
        retryIndexes: [],
        deaths: new Map(),
        overLimit: new Set(),
        onProgress,
        openCount: requests.length,
        settled: false,
        settle: (error) => {
          if (job.settled) return
          job.settled = true
          signal?.removeEventListener('abort', onAbort)
          this.#jobs = this.#jobs.filter((other) => other !== job)
          if (error === undefined) resolve(job.results.filter((result) => result !== undefined))
          else reject(error)
        },
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#jobs.push(job)
      this.#assignBatches()
    })
  }

  warm(): void {
    const [lane] = this.#lanes
    if (this.#closed || lane === undefined) return
    this.#warmUntil = performance.now() + WARM_MS
    if (lane.child !== undefined || lane.job !== undefined) return
    // The next caller that needs it gets the error.
    this.#getChild(lane).then(
      () => (lane.job === undefined ? this.#scheduleIdleKill(lane) : undefined),
      () => undefined,
    )
  }

  pids(): number[] {
    return this.#lanes.flatMap(({ child }) => (child === undefined ? [] : [child.pid]))
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const job of [...this.#jobs]) job.settle(createClosedError())
    this.#killAll()
  }

  #killAll(): void {
    for (const lane of this.#lanes) {
      clearTimeout(lane.idle)
      lane.child?.kill()
      lane.child = undefined
    }
  }

  #abort(job: CompileJob, reason: unknown): void {
    job.settle(reason ?? new DOMException('This operation was aborted', 'AbortError'))
    for (const lane of this.#lanes) {
      const { child } = lane
      if (lane.job !== job || child === undefined) continue
      setTimeout(() => {
        if (lane.job === job && lane.child === child) child.kill()
      }, ABORT_GRACE_MS).unref()
    }
  }

  #assignBatches(): void {
    for (const lane of this.#lanes) {
      if (lane.job !== undefined) continue
      const job = this.#jobs.find(hasWork)
      if (job === undefined) return
      // The job goes to the end of the queue: callers take turns.
      this.#jobs = [...this.#jobs.filter((other) => other !== job), job]
      const batch = this.#nextBatch(job)
      lane.job = job
      clearTimeout(lane.idle)
      this.#runNextBatch(lane, job, batch)
        .catch((error: unknown) => job.settle(error))
        .finally(() => {
          lane.job = undefined
          this.#scheduleIdleKill(lane)
          this.#assignBatches()
        })
    }
  }

  #scheduleIdleKill(lane: Lane): void {
    clearTimeout(lane.idle)
    if (lane.child === undefined) return
    lane.idle = setTimeout(
      () => {
        lane.child?.kill()
        lane.child = undefined
      },
      Math.max(this.#idleMs, this.#warmUntil - performance.now()),
    )
    lane.idle.unref()
  }

  async #runNextBatch(lane: Lane, job: CompileJob, batch: number[]): Promise<void> {
    const [first = 0] = batch
    const isSingle = batch.length === 1
    if (isSingle && job.overLimit.has(first)) this.#killUsedChild(lane)
    const child = await this.#getChild(lane)
    if (job.settled) return
    const wasFresh = child.isFresh()
    const run: BatchRun = {
      requests: batch.flatMap((index) => job.requests[index] ?? []),
      processorMs: isSingle ? this.#limits.processorMs : Math.min(this.#limits.processorMs, BATCH_STALL_MS),
      onResults: (start, results) => {
        for (const [offset, result] of results.entries()) recordResult(job, batch[start + offset], result)
      },
      onProgress: (batchIndex, progress) => job.onProgress(batch[batchIndex] ?? 0, progress),
      containedSink: createBatchSink(job, batch),
    }
    const outcome = await child.run(run).catch((error: unknown) => {
      if (lane.child === child) lane.child = undefined
      throw error
    })
    if (outcome.end === 'done') {
      this.#failedStarts = 0
      if (outcome.rss <= this.#limits.memoryBytes * RECYCLE_FRACTION) return
      child.kill()
    }
    if (lane.child === child) lane.child = undefined
    const unresolved = batch.filter((index) => job.results[index] === undefined)
    const diedBeforeBatch = outcome.end === 'died' && !outcome.started
    if (diedBeforeBatch) this.#countFailedStart(outcome.detail)
    if (!isSingle || diedBeforeBatch || shouldRetry(job, first, { outcome, wasFresh }))
      return void job.retryIndexes.push(...unresolved)
    for (const index of unresolved) {
      const name = job.requests[index]?.filename ?? 'the file'
      recordResult(job, index, { ok: false, failure: toReadFailure(name, outcome, this.#limits) })
    }
  }

  /** Kills a process that has read files, so that the next batch gets a fresh one. */
  #killUsedChild(lane: Lane): void {
    if (lane.child?.isFresh() !== false) return
    lane.child.kill()
    lane.child = undefined
  }

  async #getChild(lane: Lane): Promise<ReadingProcess> {
    if (lane.child !== undefined) return lane.child
    lane.starting ??= this.#start(lane).finally(() => {
      lane.starting = undefined
    })
    return await lane.starting
  }

  async #start(lane: Lane): Promise<ReadingProcess> {
    for (;;) {
      try {
        const child = await startReadingProcess(this.#limits, {
          inForeground: this.#inForeground,
          folders: this.#folders,
        })
        if (this.#closed) {
          child.kill()
          throw createClosedError()
        }
        lane.child = child
        return child
      } catch (error) {
        if (error instanceof KsError) throw error
        if (this.#closed) throw createClosedError()
        this.#countFailedStart(error)
      }
    }
  }

  /** Counts a process that ended before it had a batch. Throws after several in a row: its files are not the cause. */
  #countFailedStart(cause: unknown): void {
    this.#failedStarts++
    if (this.#failedStarts < MAX_FAILED_STARTS) return
    this.#failedStarts = 0
    const detail = cause instanceof Error ? cause.message : `the reading process ended at once: ${String(cause)}`
    throw new KsError('unavailable', detail, { cause })
  }

  /** The next files of a job for one child: small ones together, all others alone. */
  #nextBatch(job: CompileJob): number[] {
    const retryIndex = job.retryIndexes.shift()
    if (retryIndex !== undefined) return [retryIndex]
    const maxShare = Math.ceil((job.requests.length - job.cursor) / this.#lanes.length)
    const batch: number[] = []
    let bytes = 0
    while (job.cursor < job.requests.length && batch.length < Math.min(MAX_BATCH_FILES, maxShare)) {
      const request = job.requests[job.cursor]
      if (request === undefined) break
      const size = getSharedSize(request)
      if (size === undefined || bytes + size > MAX_BATCH_BYTES) {
        if (batch.length === 0) batch.push(job.cursor++)
        break
      }
      bytes += size
      batch.push(job.cursor++)
    }
    return batch
  }
}

function createClosedError(): KsError {
  return new KsError('unavailable', 'the reading of documents was shut down')
}
