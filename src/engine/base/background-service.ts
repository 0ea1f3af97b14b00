import { KsError } from '../../contract/errors.js'
import { ChangeNotifier } from './change-notifier.js'
import type { EngineLog } from './log.js'
import { asDeployment } from './tenant-scope.js'

/** interval without a wake-up: work may have become due, or other processes may have left some */
export const IDLE_POLL_MS = 5000

/**
 * A service that looks for due work in ticks: when it is woken, and on a timer. Ticks do not overlap; they may start
 * longer work, which is tracked until it ends. A service without ticks is never started or woken.
 */
export abstract class BackgroundService<Context extends { log: EngineLog }> {
  /** notifies after each tick and each tracked work, and when the service stops */
  readonly progress = new ChangeNotifier()
  /** log message of a tick that failed */
  protected abstract readonly failureMessage: string
  protected readonly failureLevel: keyof EngineLog = 'warn'
  readonly #stopping = new AbortController()
  readonly #tracked = new Set<Promise<void>>()
  readonly #delays = new Set<NodeJS.Timeout>()
  #context: Context | undefined
  #isPending = false
  #ticking: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined

  /** @param context makes the service work when it is woken, even before its start */
  constructor(context?: Context) {
    this.#context = context
  }

  /** Does the work that is due, or starts it. A tick that fails is logged, and the next one runs after the interval. */
  protected tick(): void | Promise<void> {}

  /** Milliseconds until the next tick without a wake-up; infinite for none. */
  protected intervalMs(): number {
    return IDLE_POLL_MS
  }

  /** Starts the ticks, the first after a delay. */
  start(context: Context | undefined = this.#context, firstTickMs = 0): void {
    this.#context = context
    this.wake(firstTickMs)
  }

  /** Starts a tick soon, or after a delay. A wake during a tick causes one more. */
  wake(afterMs = 0): void {
    if (this.#context === undefined || this.isStopped) return
    if (afterMs > 0) {
      this.runAfter(afterMs, () => this.wake())
      return
    }
    if (this.#isPending) return
    this.#isPending = true
    if (this.#ticking === undefined) setImmediate(() => this.#begin())
  }

  /** Resolves when one more tick has ended; the work that it started may continue. */
  async poll(): Promise<void> {
    this.wake()
    while (this.#isPending || this.#ticking !== undefined) await this.progress.waitForNext()
  }

  /** Works until nothing is due and all tracked work has ended. */
  async drain(): Promise<void> {
    this.wake()
    while (this.#isPending || this.isBusy) await this.progress.waitForNext()
  }

  /** Aborts the work, starts none any more, and waits until it has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort(new KsError('unavailable', 'the daemon is stopping'))
    for (const timer of [...this.#delays, this.#timer]) clearTimeout(timer)
    this.progress.notify()
    await this.#ticking
    while (this.#tracked.size > 0) await Promise.allSettled(this.#tracked)
  }

  /** whether a tick or tracked work runs */
  get isBusy(): boolean {
    return this.#ticking !== undefined || this.#tracked.size > 0
  }

  /** count of ticks and tracked works that run */
  get active(): number | Promise<number> {
    return this.#tracked.size + (this.#ticking === undefined ? 0 : 1)
  }

  /** @throws KsError `internal` before the start */
  protected get context(): Context {
    if (this.#context === undefined) throw new KsError('internal', `${this.constructor.name} was used before its start`)
    return this.#context
  }

  protected get isStarted(): boolean {
    return this.#context !== undefined
  }

  /** aborted by the stop */
  protected get stopSignal(): AbortSignal {
    return this.#stopping.signal
  }

  protected get isStopped(): boolean {
    return this.#stopping.signal.aborted
  }

  /** Makes `drain` and `stop` wait for work that handles its errors. */
  protected track(work: Promise<void>): void {
    const tracked = work.finally(() => {
      this.#tracked.delete(tracked)
      this.progress.notify()
    })
    this.#tracked.add(tracked)
  }

  /** Calls back after a delay, unless the service has stopped. */
  protected runAfter(ms: number, callback: () => void): void {
    if (this.isStopped) return
    const timer = setTimeout(() => {
      this.#delays.delete(timer)
      callback()
    }, ms).unref()
    this.#delays.add(timer)
  }

  #begin(): void {
    this.#isPending = false
    clearTimeout(this.#timer)
    if (!this.isStopped) this.#ticking = this.#runTick()
    else this.progress.notify()
  }

  async #runTick(): Promise<void> {
    try {
      // a tick looks for the work of all tenants, no matter which one woke it
      await asDeployment(async () => this.tick())
    } catch (error) {
      if (!this.isStopped) this.context.log[this.failureLevel]({ error: String(error) }, this.failureMessage)
    }
    this.#ticking = undefined
    if (this.#isPending) setImmediate(() => this.#begin())
    else this.#schedule(this.intervalMs())
    this.progress.notify()
  }

  #schedule(ms: number): void {
    if (!this.isStopped && Number.isFinite(ms)) this.#timer = setTimeout(() => this.wake(), ms).unref()
  }
}
