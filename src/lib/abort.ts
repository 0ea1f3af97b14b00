/** An abort controller that follows a parent signal until it is disposed. */
export interface LinkedAbort {
  readonly signal: AbortSignal
  abort(reason?: unknown): void
  /** Stops following the parent. */
  dispose(): void
}

/**
 * A controller that aborts with its parent. Used in place of `AbortSignal.any`, which on Node 20 keeps every
 * dependent signal alive as long as the parent lives, and a daemon's shutdown signal lives for ever.
 */
export function linkAbort(parent?: AbortSignal): LinkedAbort {
  const controller = new AbortController()
  const follow = () => controller.abort(parent?.reason)
  if (parent?.aborted) follow()
  else parent?.addEventListener('abort', follow, { once: true })
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    dispose: () => parent?.removeEventListener('abort', follow),
  }
}

/** Resolves after `ms`; rejects with the signal's reason as soon as it aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}

/** A timer that counts only while it runs. */
export interface Countdown {
  start(): void
  /** Pauses; the remaining time stays. */
  stop(): void
  remainingMs(): number
  /** Restores the full time; keeps running if it was running. */
  reset(): void
}

/** A stopped countdown of `ms` that calls `onExpire` once when its running time is used up. */
export function createCountdown(ms: number, onExpire: () => void): Countdown {
  let remainingMs = ms
  let startedAt = 0
  let timer: NodeJS.Timeout | undefined
  const computeRemainingMs = () => (timer ? Math.max(0, remainingMs - (performance.now() - startedAt)) : remainingMs)
  return {
    start: () => {
      if (timer) return
      startedAt = performance.now()
      timer = setTimeout(onExpire, remainingMs)
    },
    stop: () => {
      remainingMs = computeRemainingMs()
      clearTimeout(timer)
      timer = undefined
    },
    remainingMs: computeRemainingMs,
    reset: () => {
      remainingMs = ms
      if (!timer) return
      clearTimeout(timer)
      startedAt = performance.now()
      timer = setTimeout(onExpire, remainingMs)
    },
  }
}
