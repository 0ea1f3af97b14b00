import { asDeployment } from './tenant-scope.js'

/** when nobody wakes a runner: work may have become due, or be left by others */
export const IDLE_POLL_MS = 5000

/** The moments in which a runner looks for work. */
export interface Turns {
  /** Takes a turn soon; once, however often it is asked before that. */
  wake(): void
  /** No turn is taken any more. Resolves when the one that is under way has ended. */
  stop(): Promise<void>
}

/**
 * @param turn looks for work, and holds the event loop for no longer than that; the next one waits for its end
 * @param failed is told what a turn has thrown; the next one comes by itself, as after any other
 * @param idleMs until the next turn where nobody wakes it, milliseconds
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
      // whoever has woken it, it looks for the work of all
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
