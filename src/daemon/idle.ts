const MAX_CHECK_MS = 30_000
const CHECKS_PER_IDLE_TIME = 4

/**
 * Stops an idle daemon.
 *
 * @param afterMs idle time in milliseconds; undefined for a daemon that keeps running
 */
export function watchIdle(options: {
  afterMs: number | undefined
  /** milliseconds since the last request ended */
  idleMs(): number
  /** whether work without a request is pending or running */
  isBusy(): boolean | Promise<boolean>
  stop(): void
}): { close(): void } {
  const { afterMs } = options
  if (afterMs === undefined) return { close: () => {} }
  let lastBusyAt = performance.now()
  const check = async () => {
    let isBusy = true
    try {
      isBusy = await options.isBusy()
    } catch {
      // If the check fails, for example because the database is unavailable, the daemon counts as busy.
    }
    if (isBusy) lastBusyAt = performance.now()
    if (options.idleMs() >= afterMs && performance.now() - lastBusyAt >= afterMs) options.stop()
  }
  const timer = setInterval(() => void check(), Math.min(MAX_CHECK_MS, afterMs / CHECKS_PER_IDLE_TIME))
  timer.unref()
  return { close: () => clearInterval(timer) }
}
