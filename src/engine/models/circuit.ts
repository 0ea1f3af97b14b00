/** Consecutive failed calls that open the circuit: two could be chance, ten mean a minute of waiting users. */
const FAILURES_TO_OPEN = 5

/** Time before one call may probe the model: short at first, doubled after each failed probe. */
const OPEN_DURATION_MS = { first: 1000, longest: 15_000 }

export type CircuitState = 'closed' | 'open' | 'half-open'

/** A circuit breaker (M. Nygard, "Release It!"): calls to a model that keeps failing fail at once. */
export interface CircuitBreaker {
  /** Milliseconds until a call may be made; 0 = now. */
  blockedForMs(): number
  /** Begins a call; the first one after the open time is the probe, and other calls stay blocked until it ends. */
  enter(): CircuitCall
  state(): CircuitState
  /** HTTP status of the last failure, if it had one. */
  lastStatus(): number | undefined
}

/** One call; only its first reported outcome counts. */
export interface CircuitCall {
  recordSuccess(): void
  /** @param status of the response, if there was one */
  recordFailure(status?: number): void
  /** The caller gave up before an outcome. */
  abandon(): void
}

export function createCircuitBreaker(now: () => number): CircuitBreaker {
  let failures = 0
  let openUntil = 0
  let openMs = 0
  let lastStatus: number | undefined
  let probe: CircuitCall | undefined
  const isOpen = () => failures >= FAILURES_TO_OPEN

  return {
    blockedForMs() {
      if (!isOpen()) return 0
      return probe ? openMs : Math.max(0, openUntil - now())
    },
    enter() {
      let ended = false
      const end = (record: (call: { wasProbe: boolean; status: number | undefined }) => void) => (status?: number) => {
        if (ended) return
        ended = true
        const wasProbe = probe === call
        if (wasProbe) probe = undefined
        record({ wasProbe, status })
      }
      const call: CircuitCall = {
        recordSuccess: end(() => {
          failures = 0
        }),
        recordFailure: end(({ wasProbe, status }) => {
          failures++
          lastStatus = status
          if (!isOpen()) return
          // calls that began before the circuit opened do not extend the open time
          if (failures === FAILURES_TO_OPEN) openMs = OPEN_DURATION_MS.first
          else if (wasProbe) openMs = Math.min(openMs * 2, OPEN_DURATION_MS.longest)
          openUntil = now() + openMs
        }),
        abandon: end(() => {}),
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
