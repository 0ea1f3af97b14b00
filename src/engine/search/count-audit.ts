import type { CountComparison } from './count-check.js'

/** Changes within this time are checked together. */
const AUDIT_DELAY_MS = 500
/** Delay of the next check while changes keep arriving. */
const BUSY_RETRY_MS = 5_000
/** Delay before indexes are filled again that still differ after they were filled: it costs as much as a start. */
const REFILL_DELAY_MS = 300_000

/** The currently open indexes of one space. */
export interface AuditedIndexes {
  compare(signal: AbortSignal): Promise<CountComparison>
  /** they still differed from the rows after they were filled again, or could not be filled */
  readonly stillDiffers: boolean
}

export interface CountAuditOptions {
  /** the open indexes of a space; undefined where the next use compares them anyway */
  findOpen: (space: string) => AuditedIndexes | undefined
  /** replaces the open indexes of a space; this compares and fills them */
  replace: (space: string, audited: AuditedIndexes) => Promise<void>
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
  readonly #refillScheduled = new WeakSet<AuditedIndexes>()
  readonly #comparing = new Set<Promise<CountComparison>>()
  readonly #stop = new AbortController()

  constructor(options: CountAuditOptions) {
    this.#options = options
  }

  /** Schedules a check after a change. Cheap: one timer per space. */
  noteChange(space: string, afterMs = AUDIT_DELAY_MS): void {
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
    const audited = this.#options.findOpen(space)
    if (audited === undefined) return
    const comparing = audited.compare(this.#stop.signal)
    this.#comparing.add(comparing)
    const compared = await comparing.finally(() => this.#comparing.delete(comparing))
    if (this.#closed) return
    if (audited.stillDiffers) this.#refillLater(space, audited)
    else if (compared.state === 'moving') this.noteChange(space, BUSY_RETRY_MS)
    else if (compared.state === 'different') {
      this.#options.log(`${compared.sentence} in space ${space}: what is missing will be added`)
      await this.#options.replace(space, audited)
    }
  }

  #refillLater(space: string, audited: AuditedIndexes): void {
    if (this.#refillScheduled.has(audited)) return
    this.#refillScheduled.add(audited)
    setTimeout(() => {
      if (this.#closed) return
      this.#options.replace(space, audited).catch((error: unknown) => this.#options.log(String(error)))
    }, REFILL_DELAY_MS).unref()
  }
}
