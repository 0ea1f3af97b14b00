import { KsError } from '../../contract/errors.js'
import { type LinkedAbort, linkAbort } from '../../lib/abort.js'
import { BackgroundService, IDLE_POLL_MS } from './background-service.js'
import { isStillAhead } from './due.js'
import type { EngineLog } from './log.js'

/** maximum delay of a retry, whatever a provider requests; timers are limited to 24 days anyway */
export const MAX_RETRY_DELAY_MS = 7 * 24 * 60 * 60_000

/** Works on rows, each in a run that can be stopped, and resumes deferred rows when they are due. */
export abstract class RowRunner<
  Context extends { log: EngineLog; now: () => number },
  Row extends { key: number; next_at: number },
> extends BackgroundService<Context> {
  /** kind of row, for messages */
  protected abstract readonly rowKind: string
  readonly #running = new Map<number, { stop: LinkedAbort; done: Promise<void> }>()
  #nextAt = Number.POSITIVE_INFINITY

  /** Whether no run may start: it would end in a write, and the disk is full. */
  protected abstract isPaused(): boolean

  /** Rows that have not ended, and that no other process works on. */
  protected abstract listOpen(): Promise<Row[]>

  /**
   * Claims a row until it has ended or `onFailure` has deferred it, where only one process may work on it.
   * @returns whether no other process has it
   */
  protected async claim(_row: Row): Promise<boolean> {
    return true
  }

  /** Works on a row until it has ended. */
  protected abstract work(row: Row, signal: AbortSignal): Promise<void>

  /** Defers or ends a row after `work` failed for another reason than its signal. */
  protected abstract onFailure(row: Row, error: unknown, signal: AbortSignal): Promise<void>

  protected override get failureMessage(): string {
    return `the open rows (${this.rowKind}) could not be read`
  }

  /** number of running rows */
  protected get size(): number {
    return this.#running.size
  }

  protected isRunning(key: number): boolean {
    return this.#running.has(key)
  }

  /** Stops the run of a row that the caller's transaction has ended. */
  async stopRun(key: number): Promise<void> {
    const run = this.#running.get(key)
    run?.stop.abort(new KsError('already-terminal', `the ${this.rowKind} was canceled`))
    await run?.done
  }

  /** Stops all runs: other gateways took this one for dead and have taken over its rows. */
  lost(): void {
    for (const { stop } of this.#running.values())
      stop.abort(new KsError('unavailable', 'another process took it over'))
  }

  protected override intervalMs(): number {
    return Math.min(IDLE_POLL_MS, Math.max(0, this.#nextAt - this.context.now()))
  }

  protected override async tick(): Promise<void> {
    this.#nextAt = Number.POSITIVE_INFINITY
    // `wake` is called when there is space again
    if (this.isPaused()) return
    // a row that was running while the rows were read may have ended since
    const runningKeys = new Set(this.#running.keys())
    const open = await this.listOpen()
    if (this.isStopped) return
    const now = this.context.now()
    for (const row of open) {
      if (runningKeys.has(row.key)) continue
      if (isStillAhead(row.next_at, now, MAX_RETRY_DELAY_MS)) this.#nextAt = Math.min(this.#nextAt, row.next_at)
      else this.#launch(row)
    }
  }

  #launch(row: Row): void {
    const stop = linkAbort(this.stopSignal)
    const done = this.#run(row, stop.signal)
      .catch((error: unknown) => (stop.signal.aborted ? undefined : this.onFailure(row, error, stop.signal)))
      .catch((error: unknown) =>
        this.context.log.error({ error: String(error) }, `the ${this.rowKind} could not be deferred`),
      )
      .finally(() => {
        stop.dispose()
        this.#running.delete(row.key)
        this.wake()
      })
    this.#running.set(row.key, { stop, done })
    this.track(done)
  }

  async #run(row: Row, signal: AbortSignal): Promise<void> {
    if (!(await this.claim(row))) return
    signal.throwIfAborted()
    await this.work(row, signal)
  }
}
