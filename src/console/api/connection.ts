import { createListeners } from './listeners.js'

const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 5_000
const BACKOFF_FACTOR = 1.5

const listeners = createListeners()
let isUnreachable = false
let delayMs = 0

/** Connection to the daemon. While the daemon is unreachable, `/health` is polled. */
export const connection = { subscribe: listeners.subscribe, isUnreachable: () => isUnreachable }

export function markUnreachable(): void {
  if (isUnreachable) return
  isUnreachable = true
  delayMs = FIRST_DELAY_MS
  listeners.notify()
  scheduleProbe()
}

export function markReachable(): void {
  if (!isUnreachable) return
  isUnreachable = false
  listeners.notify()
}

function scheduleProbe(): void {
  setTimeout(async () => {
    if (!isUnreachable) return
    try {
      // any response will do: also one of a daemon that is stopping or of another version
      await fetch('/health', { cache: 'no-store' })
      markReachable()
    } catch {
      delayMs = Math.min(delayMs * BACKOFF_FACTOR, MAX_DELAY_MS)
      scheduleProbe()
    }
  }, delayMs)
}
