import { setTimeout as sleep } from 'node:timers/promises'

/** Delays between polls: short at first, so that small jobs respond quickly, then longer. */
export const POLL_BACKOFF = { firstMs: 100, factor: 1.5, maxMs: 2000 } as const

/**
 * Calls `check` until it returns a value, with growing delays.
 *
 * @throws the signal's reason if it aborts
 */
export async function poll<T>(check: () => Promise<T | undefined>, signal?: AbortSignal): Promise<T> {
  let delayMs: number = POLL_BACKOFF.firstMs
  for (;;) {
    const value = await check()
    if (value !== undefined) return value
    await sleep(delayMs, undefined, signal === undefined ? {} : { signal })
    delayMs = Math.min(POLL_BACKOFF.maxMs, delayMs * POLL_BACKOFF.factor)
  }
}
