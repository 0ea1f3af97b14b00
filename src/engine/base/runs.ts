import { KsError } from '../../contract/errors.js'
import { isStillAhead } from './due.js'
import type { EngineLog } from './log.js'
import { createPollLoop } from './poll-loop.js'

/** maximum delay of a retry, whatever a provider requests; timers are limited to 24 days anyway */
export const MAX_RETRY_DELAY_MS = 7 * 24 * 60 * 60_000

/** The rows that are processed in runs, and how. */
interface RowWork<Row> {
  /** kind of row, for messages */
  name: string
  /** whether no run may start: it would end in a write, and the disk is full */
  isStopped(): boolean
  /** rows that have not ended, and that no other process works on */
  listOpen(): Promise<Row[]>
  /**
   * Claims a row until it has ended or `onFailure` has deferred it; absent if several processes may work on one row.
   * @returns whether no other process has it
   */
  claim?(row: Row): Promise<boolean>
  /** Works on a row until it has ended. */
  work(row: Row, signal: AbortSignal): Promise<void>
  /** Defers or ends a row after `work` failed for another reason than its signal. */
  onFailure(row: Row, error: unknown, signal: AbortSignal): Promise<void>
}

/** Works on rows, each in a run that can be stopped, and resumes deferred rows when they are due. */
export class RowRunner<Row extends { key: number; next_at: number }> {
  readonly #log: EngineLog
  readonly #rowWork: RowWork<Row>
  readonly #pollLoop = createPollLoop(
    () => this.#tick(),
    (error) => this.#log.warn({ error: String(error) }, `the open rows (${this.#rowWork.name}) could not be read`),
  )
  readonly #running = new Map<number, { stop: AbortController; done: Promise<void> }>()
  #isClosed = false
  #timer: NodeJS.Timeout | undefined

  constructor(log: EngineLog, rowWork: RowWork<Row>) {
    this.#log = log
    this.#rowWork = rowWork
  }

  /** Starts a tick soon. */
  wake(): void {
    this.#pollLoop.wake()
  }

  /** number of running rows */
  get size(): number {
    return this.#running.size
  }

  has(key: number): boolean {
    return this.#running.has(key)
  }

  /** Stops the run of a row that the caller's transaction has ended. */
  async stopEnded(key: number): Promise<void> {
    const run = this.#running.get(key)
    run?.stop.abort(new KsError('already-terminal', `the ${this.#rowWork.name} was canceled`))
    await run?.done
  }

  /** Stops all runs: other gateways took this one for dead and have taken over its rows. */
  stopAll(): void {
    for (const { stop } of this.#running.values())
      stop.abort(new KsError('unavailable', 'another process took it over'))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#pollLoop.stop()
    clearTimeout(this.#timer)
    for (const { stop } of this.#running.values()) stop.abort(new KsError('unavailable', 'the daemon is stopping'))
    await Promise.allSettled([...this.#running.values()].map(({ done }) => done))
  }

  async #tick(): Promise<void> {
    clearTimeout(this.#timer)
    // `wake` is called when there is space again
    if (this.#rowWork.isStopped()) return
    // a row that was running while the rows were read may have ended since
    const runningKeys = new Set(this.#running.keys())
    const open = await this.#rowWork.listOpen()
    if (this.#isClosed) return
    const now = Date.now()
    let next = Number.POSITIVE_INFINITY
    for (const row of open) {
      if (runningKeys.has(row.key)) continue
      if (isStillAhead(row.next_at, now, MAX_RETRY_DELAY_MS)) next = Math.min(next, row.next_at)
      else this.#start(row)
    }
    if (next < Number.POSITIVE_INFINITY) this.#timer = setTimeout(() => this.wake(), next - now).unref()
  }

  #start(row: Row): void {
    const stop = new AbortController()
    const done = this.#work(row, stop.signal)
      .catch((error: unknown) => (stop.signal.aborted ? undefined : this.#rowWork.onFailure(row, error, stop.signal)))
      .catch((error: unknown) =>
        this.#log.error({ error: String(error) }, `the ${this.#rowWork.name} could not be deferred`),
      )
      .finally(() => {
        this.#running.delete(row.key)
        if (!this.#isClosed) this.wake()
      })
    this.#running.set(row.key, { stop, done })
  }

  async #work(row: Row, signal: AbortSignal): Promise<void> {
    if (this.#rowWork.claim !== undefined && !(await this.#rowWork.claim(row))) return
    signal.throwIfAborted()
    await this.#rowWork.work(row, signal)
  }
}
