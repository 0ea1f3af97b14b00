import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { defined } from '../../lib/defined.js'

/** duration of a slice of background work on the event loop while a query is running */
const SLICE_MS = 8
/** maximum pause after a slice: background work makes progress however many queries run */
const PAUSE_MS = 50
/** a query has priority for this long: a longer one waits for something else, such as a model */
const HURRY_MS = 250
/** within this time after a query another one is likely */
const LATELY_MS = 1000
/** low-priority work rests this many times as long as it worked, up to `MAX_BACKOFF_MS` */
const REST_SHARE = 9
const LONGEST_REST_MS = 500

/** Gives queries priority over background work on the event loop of the daemon. */
export class RightOfWay {
  readonly #questions = new Set<{ began: number }>()
  /** background work that yields, in order of arrival */
  #queue = Promise.resolve()
  #lastPause = Number.NEGATIVE_INFINITY
  #endPause: (() => void) | undefined
  #lastAsked = Number.NEGATIVE_INFINITY

  /** A query starts. @returns a function that ends it, once */
  begin(): () => void {
    const question = { began: performance.now() }
    this.#questions.add(question)
    return () => {
      this.#lastAsked = performance.now()
      if (this.#questions.delete(question) && !this.#isAsked()) this.#endPause?.()
    }
  }

  /**
   * Called between two pieces of background work: lets other work run, and running queries end first. Returns quickly
   * after a short piece.
   */
  async giveWay(): Promise<void> {
    if (this.#isAsked()) {
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
  async rest(worked: number, signal?: AbortSignal): Promise<void> {
    if (this.#questions.size === 0 && performance.now() - this.#lastAsked > LATELY_MS) return
    const milliseconds = Math.min(LONGEST_REST_MS, worked * REST_SHARE)
    // `close` ends the wait early
    await sleep(milliseconds, undefined, { ref: false, ...defined({ signal }) }).catch(() => undefined)
  }

  async #pauseIfDue(): Promise<void> {
    // after the second turn, the work before has started its next transaction
    await turn()
    await turn()
    if (this.#isAsked() && performance.now() - this.#lastPause >= SLICE_MS) await this.#untilAnswered()
  }

  async #untilAnswered(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, PAUSE_MS)
      this.#endPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#endPause = undefined
    this.#lastPause = performance.now()
  }

  #isAsked(): boolean {
    const since = performance.now() - HURRY_MS
    for (const { began } of this.#questions) if (began > since) return true
    return false
  }
}
