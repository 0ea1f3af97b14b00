/** Whether the daemon is reachable. While it is not, `/health` is polled; then all data on the page is reloaded. */
type Listener = () => void
const listeners = new Set<Listener>()
let isAway = false
let delayMs = 0

const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 5_000

export const connection = {
  subscribe(listener: Listener): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  isAway: () => isAway,
}

export function markUnreachable(): void {
  if (isAway) return
  isAway = true
  delayMs = FIRST_DELAY_MS
  notify()
  probeLater()
}

export function markReachable(): void {
  if (!isAway) return
  isAway = false
  notify()
}

function probeLater(): void {
  setTimeout(async () => {
    if (!isAway) return
    try {
      // any response will do: also one of a daemon that is stopping or of another version
      await fetch('/health', { cache: 'no-store' })
      markReachable()
    } catch {
      delayMs = Math.min(delayMs * 1.5, MAX_DELAY_MS)
      probeLater()
    }
  }, delayMs)
}

function notify(): void {
  for (const listener of listeners) listener()
}
