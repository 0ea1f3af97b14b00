export interface IdleWatch {
  close(): void
}

const MAX_CHECK_MS = 30_000
const CHECKS_PER_LIFE = 4

/**
 * Lets a daemon that nobody uses leave.
 *
 * @param afterMs undefined for a daemon that stays
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
    if (await options.busy()) busyAt = performance.now()
    if (options.idleMs() >= afterMs && performance.now() - busyAt >= afterMs) options.leave()
  }
  const timer = setInterval(() => void look(), Math.min(MAX_CHECK_MS, afterMs / CHECKS_PER_LIFE))
  timer.unref()
  return { close: () => clearInterval(timer) }
}
