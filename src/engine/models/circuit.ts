/** Consecutive failed calls after which a model is left alone: two could be chance, ten is a minute of waiting users. */
const FAILURES_TO_OPEN = 5

/** How long it is left alone before one call may try again: shortly at first, then twice as long after each try. */
const OPEN_MS = { first: 1000, longest: 15_000 }

export type CircuitState = 'closed' | 'open' | 'half-open'

/** A circuit breaker (M. Nygard, "Release It!"): a model that keeps failing is answered for, not asked. */
export interface Circuit {
  /** Milliseconds until a call may be made; 0 = now. */
  blockedFor(): number
  /** Begins a call; the first one after the open time is the probe, and others stay blocked until it ends. */
  enter(): CircuitCall
  state(): CircuitState
  /** HTTP status of the last failure, where it had one. */
  lastStatus(): number | undefined
}

/** One call; only the first outcome it tells counts. */
export interface CircuitCall {
  succeeded(): void
  /** @param status of the response, where there was one */
  failed(status?: number): void
  /** It ended without telling anything: its caller left. */
  abandoned(): void
}

export function createCircuit(now: () => number): Circuit {
  let failures = 0
  let openUntil = 0
  let openMs = 0
  let lastStatus: number | undefined
  let probe: CircuitCall | undefined
  const isOpen = () => failures >= FAILURES_TO_OPEN

  return {
    blockedFor() {
      if (!isOpen()) return 0
      return probe ? openMs : Math.max(0, openUntil - now())
    },
    enter() {
      let ended = false
      const end = (outcome: (wasProbe: boolean, status?: number) => void) => (status?: number) => {
        if (ended) return
        ended = true
        const wasProbe = probe === call
        if (wasProbe) probe = undefined
        outcome(wasProbe, status)
      }
      const call: CircuitCall = {
        succeeded: end(() => {
          failures = 0
        }),
        failed: end((wasProbe, status) => {
          failures++
          lastStatus = status
          if (!isOpen()) return
          // calls that were under way before say nothing of how long it takes
          if (failures === FAILURES_TO_OPEN) openMs = OPEN_MS.first
          else if (wasProbe) openMs = Math.min(openMs * 2, OPEN_MS.longest)
          openUntil = now() + openMs
        }),
        abandoned: end(() => {}),
      }
      if (isOpen()) probe = call
      return call
    },
    state() {
      if (!isOpen()) return 'closed'
      return openUntil <= now() ? 'half-open' : 'open'
    },
    lastStatus: () => lastStatus,
  }
}
