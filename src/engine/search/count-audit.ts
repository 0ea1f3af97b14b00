import type { Comparison } from './count-check.js'

/** Changes within this time are checked together. */
const AUDIT_AFTER_MS = 500
/** Delay of the next check while changes keep arriving. */
const MOVING_MS = 5_000
/** Delay before indexes are filled again that still differ after they were filled: it costs as much as a start. */
const SHORT_RETRY_MS = 300_000

/** The currently open indexes of one space. */
export interface Audited {
  compare(signal: AbortSignal): Promise<Comparison>
  /** they still differed from the rows after they were filled again, or could not be filled */
  readonly short: boolean
}

export interface CountAuditOptions {
  /** the open indexes of a space; undefined where the next use compares them anyway */
  current: (space: string) => Audited | undefined
  /** replaces the open indexes of a space; this compares and fills them */
  renew: (space: string, found: Audited) => Promise<void>
  log: (message: string) => void
}

/**
 * Compares the indexes of each space with its rows some time after a change, so that a wrong count is noticed while the
 * daemon runs and not only on request.
 */
export class CountAudit {
  readonly #options: CountAuditOptions
  readonly #timers = new Map<string, NodeJS.Timeout>()
  /** indexes whose next refill is scheduled */
  readonly #later = new WeakSet<Audited>()
  readonly #comparing = new Set<Promise<Comparison>>()
  readonly #stop = new AbortController()

  constructor(options: CountAuditOptions) {
    this.#options = options
  }

  /** Schedules a check after a change. Cheap: one timer per space. */
  changed(space: string, afterMs = AUDIT_AFTER_MS): void {
    if (this.#closed || this.#timers.has(space)) return
    const timer = setTimeout(() => {
      this.#timers.delete(space)
      this.#audit(space).catch((error: unknown) => {
        // close() aborts a running comparison
        if (!this.#closed) this.#options.log(`the indexes of a space were not compared: ${String(error)}`)
      })
    }, afterMs)
    timer.unref()
    this.#timers.set(space, timer)
  }

  forget(space: string): void {
    clearTimeout(this.#timers.get(space))
    this.#timers.delete(space)
  }

  /** Starts no further checks; resolves when no check reads the rows. */
  async close(): Promise<void> {
    this.#stop.abort()
    for (const space of [...this.#timers.keys()]) this.forget(space)
    await Promise.allSettled(this.#comparing)
  }

  get #closed(): boolean {
    return this.#stop.signal.aborted
  }

  async #audit(space: string): Promise<void> {
    const audited = this.#options.current(space)
    if (audited === undefined) return
    const comparing = audited.compare(this.#stop.signal)
    this.#comparing.add(comparing)
    const compared = await comparing.finally(() => this.#comparing.delete(comparing))
    if (this.#closed) return
    if (audited.short) this.#renewLater(space, audited)
    else if (compared.state === 'moving') this.changed(space, MOVING_MS)
    else if (compared.state === 'different') {
      this.#options.log(`${compared.sentence} in space ${space}: what is missing will be added`)
      await this.#options.renew(space, audited)
    }
  }

  #renewLater(space: string, audited: Audited): void {
    if (this.#later.has(audited)) return
    this.#later.add(audited)
    setTimeout(() => {
      if (this.#closed) return
      this.#options.renew(space, audited).catch((error: unknown) => this.#options.log(String(error)))
    }, SHORT_RETRY_MS).unref()
  }
}
