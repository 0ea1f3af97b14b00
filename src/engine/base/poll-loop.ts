import { asDeployment } from './tenant-scope.js'

/** interval without a wake-up: work may have become due, or other processes may have left some */
export const IDLE_POLL_MS = 5000

/** A loop that looks for work on a timer and when it is woken. */
export interface PollLoop {
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
export function createPollLoop(
  tick: () => void | Promise<void>,
  onError: (error: unknown) => void,
  idleMs: () => number = () => IDLE_POLL_MS,
): PollLoop {
  let isPending = false
  let isTicking = false
  let isStopped = false
  let timer: NodeJS.Timeout | undefined
  let lastTick = Promise.resolve()
  const runTick = async () => {
    isPending = false
    if (isStopped) return
    clearTimeout(timer)
    isTicking = true
    try {
      // a tick looks for the work of all tenants, no matter which one woke it
      await asDeployment(tick)
    } catch (error) {
      onError(error)
    }
    isTicking = false
    if (isPending) setImmediate(begin)
    else if (!isStopped) timer = setTimeout(wake, idleMs()).unref()
  }
  const begin = () => {
    lastTick = runTick()
  }
  const wake = () => {
    if (isPending || isStopped) return
    isPending = true
    if (!isTicking) setImmediate(begin)
  }
  return {
    wake,
    stop() {
      isStopped = true
      clearTimeout(timer)
      return lastTick
    },
  }
}
