import type { Comparison } from './count-check.js'

/** Changes of one moment are compared together. */
const AUDIT_AFTER_MS = 500
/** While changes come all the time, the next try is later. */
const MOVING_MS = 5_000
/** Indexes that differ right after they were filled are filled again after this: each time costs as much as a start. */
const SHORT_RETRY_MS = 300_000

/** The indexes of one space as they are worked with now. */
export interface Audited {
  compare(signal: AbortSignal): Promise<Comparison>
  /** they were filled anew and differed from the rows again, or could not be filled */
  readonly short: boolean
}

export interface CountAuditOptions {
  /** what is worked with now; nothing where the next use compares by itself */
  current: (space: string) => Audited | undefined
  /** begins anew with a space, which compares and fills its indexes */
  renew: (space: string, found: Audited) => Promise<void>
  log: (message: string) => void
}

/**
 * Compares the indexes of each space with its rows some time after a change. A count that is wrong, by whatever fault, is
 * noticed while the daemon runs, not only when somebody asks for it.
 */
export class CountAudit {
  readonly #options: CountAuditOptions
  readonly #timers = new Map<string, NodeJS.Timeout>()
  /** those whose next try is set */
  readonly #later = new WeakSet<Audited>()
  readonly #comparing = new Set<Promise<Comparison>>()
  readonly #stop = new AbortController()

  constructor(options: CountAuditOptions) {
    this.#options = options
  }

  /** Something changed. Cheap: one timer a space. */
  changed(space: string, afterMs = AUDIT_AFTER_MS): void {
    if (this.#closed || this.#timers.has(space)) return
    const timer = setTimeout(() => {
      this.#timers.delete(space)
      this.#audit(space).catch((error: unknown) => {
        // a comparison that was under way when everything was closed
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

  /** Begins nothing any more; resolves when nothing reads the rows any more. */
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
      this.#options.log(`${compared.sentence} in space ${space}: what is missing is filled in`)
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
