export interface IdleWatch {
  close(): void
}

const MAX_CHECK_MS = 30_000
const CHECKS_PER_LIFE = 4

/**
 * Stops an idle daemon.
 *
 * @param afterMs idle time in milliseconds; undefined for a daemon that keeps running
 */
export function watchIdle(options: {
  afterMs: number | undefined
  idleMs(): number
  busy(): boolean | Promise<boolean>
  leave(): void
}): IdleWatch {
  const { afterMs } = options
  if (afterMs === undefined) return { close: () => {} }
  let busyAt = performance.now()
  const look = async () => {
    if (await isBusy(options)) busyAt = performance.now()
    if (options.idleMs() >= afterMs && performance.now() - busyAt >= afterMs) options.leave()
  }
  const timer = setInterval(() => void look(), Math.min(MAX_CHECK_MS, afterMs / CHECKS_PER_LIFE))
  timer.unref()
  return { close: () => clearInterval(timer) }
}

/** If the check fails, for example because the database is unavailable, the daemon counts as busy. */
async function isBusy({ busy }: { busy(): boolean | Promise<boolean> }): Promise<boolean> {
  try {
    return await busy()
  } catch {
    return true
  }
}
