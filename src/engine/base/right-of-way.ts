import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { defined } from '../../lib/defined.js'

/** what works in the background takes the event loop for about this long at a time while somebody waits for an answer */
const SLICE_MS = 8
/** … and then lets questions go on for at most this long: however many are asked, the background gets on */
const PAUSE_MS = 50
/** a question has the right of way for this long: a longer one waits for something else, such as a model */
const HURRY_MS = 250
/** after a question so recent another is likely */
const LATELY_MS = 1000
/** what can wait takes one part of the time then, and leaves so many to the questions; it looks again after so long */
const REST_SHARE = 9
const LONGEST_REST_MS = 500

/** Lets questions go before what nobody waits for, where both want the event loop of the daemon. */
export class RightOfWay {
  readonly #questions = new Set<{ began: number }>()
  /** who gives way, one behind the other */
  #queue = Promise.resolve()
  #lastPause = Number.NEGATIVE_INFINITY
  #endPause: (() => void) | undefined
  #lastAsked = Number.NEGATIVE_INFINITY

  /** A question begins. @returns what ends it, once */
  begin(): () => void {
    const question = { began: performance.now() }
    this.#questions.add(question)
    return () => {
      this.#lastAsked = performance.now()
      if (this.#questions.delete(question) && !this.#isAsked()) this.#endPause?.()
    }
  }

  /**
   * Called between two pieces of background work: others take their turn, and questions that run may end first. A piece
   * that is short goes on at once.
   */
  async giveWay(): Promise<void> {
    if (this.#isAsked()) {
      this.#queue = this.#queue.then(() => this.#pauseIfDue())
      await this.#queue
    } else await turn()
  }

  /**
   * Called, beside `giveWay`, by work that may as well be done minutes later: while questions come one after the other,
   * nearly all of the time is theirs. Each would wait for a piece of it otherwise, in the moment before the next is asked.
   *
   * @param worked milliseconds since the last rest
   */
  async rest(worked: number, signal?: AbortSignal): Promise<void> {
    if (this.#questions.size === 0 && performance.now() - this.#lastAsked > LATELY_MS) return
    const milliseconds = Math.min(LONGEST_REST_MS, worked * REST_SHARE)
    // ended early by who closes
    await sleep(milliseconds, undefined, { ref: false, ...defined({ signal }) }).catch(() => undefined)
  }

  async #pauseIfDue(): Promise<void> {
    // by the second turn, what the one before does in its next transaction is done
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
