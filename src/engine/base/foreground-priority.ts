import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { omitUndefined } from '../../lib/omit-undefined.js'

/** duration of a slice of background work on the event loop while a query is running */
const SLICE_MS = 8
/** maximum pause after a slice: background work makes progress however many queries run */
const MAX_PAUSE_MS = 50
/** a query has priority for this long: a longer one waits for something else, such as a model */
const QUERY_PRIORITY_MS = 250
/** within this time after a query another one is likely */
const RECENT_QUERY_MS = 1000
/** low-priority work rests this many times as long as it worked, up to `MAX_BACKOFF_MS` */
const BACKOFF_FACTOR = 9
const MAX_BACKOFF_MS = 500

/** Gives queries priority over background work on the event loop of the daemon. */
export class ForegroundPriority {
  readonly #queries = new Set<{ began: number }>()
  /** background work that yields, in order of arrival */
  #queue = Promise.resolve()
  #lastPause = Number.NEGATIVE_INFINITY
  #endPause: (() => void) | undefined
  #lastQueryAt = Number.NEGATIVE_INFINITY

  /** A query starts. @returns a function that ends it, once */
  beginQuery(): () => void {
    const query = { began: performance.now() }
    this.#queries.add(query)
    return () => {
      this.#lastQueryAt = performance.now()
      if (this.#queries.delete(query) && !this.#isQueryRunning()) this.#endPause?.()
    }
  }

  /**
   * Called between two pieces of background work: lets other work run, and running queries end first. Returns quickly
   * after a short piece.
   */
  async yieldToQueries(): Promise<void> {
    if (this.#isQueryRunning()) {
      this.#queue = this.#queue.then(() => this.#pauseIfDue())
      await this.#queue
    } else await turn()
  }

  /**
   * Called in addition to `yieldToQueries` by work that may be minutes late: while queries follow each other, they get
   * nearly all of the time. Otherwise each query would wait for a piece of this work that began between two queries.
   *
   * @param worked milliseconds since the last call
   */
  async backOff(worked: number, signal?: AbortSignal): Promise<void> {
    if (this.#queries.size === 0 && performance.now() - this.#lastQueryAt > RECENT_QUERY_MS) return
    const milliseconds = Math.min(MAX_BACKOFF_MS, worked * BACKOFF_FACTOR)
    // `close` ends the wait early
    await sleep(milliseconds, undefined, { ref: false, ...omitUndefined({ signal }) }).catch(() => undefined)
  }

  async #pauseIfDue(): Promise<void> {
    // after the second turn, the work before has started its next transaction
    await turn()
    await turn()
    if (this.#isQueryRunning() && performance.now() - this.#lastPause >= SLICE_MS) await this.#waitForQueries()
  }

  async #waitForQueries(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, MAX_PAUSE_MS)
      this.#endPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#endPause = undefined
    this.#lastPause = performance.now()
  }

  #isQueryRunning(): boolean {
    const since = performance.now() - QUERY_PRIORITY_MS
    for (const { began } of this.#queries) if (began > since) return true
    return false
  }
}
