/** Whether the daemon is reachable. While it is not, `/health` is polled; then all data on the page is reloaded. */
type Listener = () => void
const listeners = new Set<Listener>()
let away = false
let pauseMs = 0

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 5_000

export const link = {
  subscribe(listener: Listener): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  isAway: () => away,
}

export function unreached(): void {
  if (away) return
  away = true
  pauseMs = FIRST_PAUSE_MS
  tell()
  ask()
}

export function reached(): void {
  if (!away) return
  away = false
  tell()
}

function ask(): void {
  setTimeout(async () => {
    if (!away) return
    try {
      // any response will do: also one of a daemon that is stopping or of another version
      await fetch('/health', { cache: 'no-store' })
      reached()
    } catch {
      pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS)
      ask()
    }
  }, pauseMs)
}

function tell(): void {
  for (const listener of listeners) listener()
}
