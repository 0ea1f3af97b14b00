/** Whether the daemon answers. While it does not, it is asked again until it does, and everything that is shown is read anew. */
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
      // any answer will do: one that is stopping or of another version is there as well
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
