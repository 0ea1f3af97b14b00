import { KsError } from '../../contract/errors.js'
import { stillWaits } from './due.js'
import type { EngineLog } from './log.js'
import { createTurns } from './turns.js'

/** nothing is put off for longer, whatever a provider says; timers take no more than 24 days either */
export const LONGEST_WAIT_MS = 7 * 24 * 60 * 60_000

/** What is worked at in runs. */
interface Runnable<Row> {
  /** what one row is, for messages */
  name: string
  /** whether nothing is begun: it would end in a write, and none can be made */
  isStopped(): boolean
  /** rows that have not ended, and that nobody else works at */
  open(): Promise<Row[]>
  /** Takes a row, until it has ended or `failed` has put it off; absent where several may work at one. @returns whether nobody else has it */
  claim?(row: Row): Promise<boolean>
  /** Works at a row until it has ended. */
  work(row: Row, signal: AbortSignal): Promise<void>
  /** Puts a row off, or ends it, after `work` failed for another reason than its signal. */
  failed(row: Row, error: unknown, signal: AbortSignal): Promise<void>
}

/** Works at rows, each in a run that can be stopped, and takes up those that were put off when their time has come. */
export class Runs<Row extends { key: number; next_at: number }> {
  readonly #log: EngineLog
  readonly #of: Runnable<Row>
  readonly #turns = createTurns(
    () => this.#turn(),
    (error) => this.#log.warn({ error: String(error) }, `no ${this.#of.name} could be looked up`),
  )
  readonly #running = new Map<number, { stop: AbortController; done: Promise<void> }>()
  #isClosed = false
  #timer: NodeJS.Timeout | undefined

  constructor(log: EngineLog, of: Runnable<Row>) {
    this.#log = log
    this.#of = of
  }

  /** Looks soon whether there is work. */
  wake(): void {
    this.#turns.wake()
  }

  /** rows that are worked at */
  get size(): number {
    return this.#running.size
  }

  has(key: number): boolean {
    return this.#running.has(key)
  }

  /** A row has ended by the caller's transaction: nothing more is done for it. */
  async ended(key: number): Promise<void> {
    const run = this.#running.get(key)
    run?.stop.abort(new KsError('already-terminal', `the ${this.#of.name} was canceled`))
    await run?.done
  }

  /** Others took this gateway for dead, and what it works at is theirs. */
  lost(): void {
    for (const { stop } of this.#running.values())
      stop.abort(new KsError('unavailable', 'another process took it over'))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#turns.stop()
    clearTimeout(this.#timer)
    for (const { stop } of this.#running.values()) stop.abort(new KsError('unavailable', 'the daemon is stopping'))
    await Promise.allSettled([...this.#running.values()].map(({ done }) => done))
  }

  async #turn(): Promise<void> {
    clearTimeout(this.#timer)
    // it is woken when there is room
    if (this.#of.isStopped()) return
    // a row that was worked at while it was read may have ended since
    const worked = new Set(this.#running.keys())
    const open = await this.#of.open()
    if (this.#isClosed) return
    const now = Date.now()
    let next = Number.POSITIVE_INFINITY
    for (const row of open) {
      if (worked.has(row.key)) continue
      if (stillWaits(row.next_at, now, LONGEST_WAIT_MS)) next = Math.min(next, row.next_at)
      else this.#begin(row)
    }
    if (next < Number.POSITIVE_INFINITY) this.#timer = setTimeout(() => this.wake(), next - now).unref()
  }

  #begin(row: Row): void {
    const stop = new AbortController()
    const done = this.#work(row, stop.signal)
      .catch((error: unknown) => (stop.signal.aborted ? undefined : this.#of.failed(row, error, stop.signal)))
      .catch((error: unknown) => this.#log.error({ error: String(error) }, `a ${this.#of.name} could not be put off`))
      .finally(() => {
        this.#running.delete(row.key)
        if (!this.#isClosed) this.wake()
      })
    this.#running.set(row.key, { stop, done })
  }

  async #work(row: Row, signal: AbortSignal): Promise<void> {
    if (this.#of.claim !== undefined && !(await this.#of.claim(row))) return
    signal.throwIfAborted()
    await this.#of.work(row, signal)
  }
}
