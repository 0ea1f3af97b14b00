import { asDeployment } from './tenant-scope.js'

/** interval without a wake-up: work may have become due, or other processes may have left some */
export const IDLE_POLL_MS = 5000

/** A loop that looks for work on a timer and when it is woken. */
export interface Turns {
  /** Starts a tick soon; one, however often it is called before that. */
  wake(): void
  /** Ends the loop. Resolves when the running tick has ended. */
  stop(): Promise<void>
}

/**
 * @param tick looks for work and resolves when it is done; ticks do not overlap
 * @param onError receives the error of a tick; the loop continues
 * @param idleMs milliseconds until the next tick without a wake-up
 */
export function createTurns(
  turn: () => void | Promise<void>,
  failed: (error: unknown) => void,
  idleMs: () => number = () => IDLE_POLL_MS,
): Turns {
  let waiting = false
  let turning = false
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let last = Promise.resolve()
  const take = async () => {
    waiting = false
    if (stopped) return
    clearTimeout(timer)
    turning = true
    try {
      // a tick looks for the work of all tenants, whoever woke it
      await asDeployment(turn)
    } catch (error) {
      failed(error)
    }
    turning = false
    if (waiting) setImmediate(begin)
    else if (!stopped) timer = setTimeout(wake, idleMs()).unref()
  }
  const begin = () => {
    last = take()
  }
  const wake = () => {
    if (waiting || stopped) return
    waiting = true
    if (!turning) setImmediate(begin)
  }
  return {
    wake,
    stop() {
      stopped = true
      clearTimeout(timer)
      return last
    },
  }
}
