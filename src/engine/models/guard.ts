import { createCountdown, linkAbort, sleep } from '../../lib/abort.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { backoffMs } from '../../lib/retry.js'
import { ProviderFailure } from '../base/provider-failure.js'
import { type CircuitBreaker, type CircuitCall, type CircuitState, createCircuitBreaker } from './circuit.js'
import { toProviderError, toProviderFailure } from './failure.js'
import type { ProviderSlots } from './slots.js'

/** The first attempt and three more. */
const MAX_ATTEMPTS = 4

/** With four attempts: waits of up to 0.3, 0.6 and 1.2 s, so that a query survives the restart of a server. */
const BACKOFF = { baseMs: 300, capMs: 5000 }

/** Limit of `Retry-After`: a wrong header must not disable the provider for longer. */
const MAX_RETRY_AFTER_MS = 3_600_000

/** The state that all models of one provider share. */
export interface ProviderGate {
  readonly provider: string
  /** timeouts of foreground and background calls */
  readonly timeoutMs: number
  readonly ingestTimeoutMs: number
  readonly firstTokenTimeoutMs: number
  /** epoch milliseconds before which the provider must not be called (`Retry-After`) */
  blockedUntil: number
  /** status of the response with that `Retry-After`; 429 without one */
  blockedStatus?: number
}

export interface GuardClock {
  now: () => number
  random: () => number
}

export interface GuardCallOptions {
  signal?: AbortSignal | undefined
  /**
   * a request waits for the answer: the call goes first in the queue, and its time in the queue counts against the
   * timeout
   */
  urgent: boolean
  /** multiple of the timeout; default 1 */
  timeoutFactor?: number
}

/** Protects the calls of one model. Every failure becomes a `KsError`, an abort the signal's reason. */
export interface ModelGuard {
  /** Runs a call with timeout, retries, circuit breaker and concurrency limit. */
  run<T>(call: (signal: AbortSignal) => Promise<T>, options: GuardCallOptions): Promise<T>
  /**
   * The same for a stream, which is not retried once it has yielded an event. The timeout restarts with every event, and
   * the consumer's time is not counted.
   *
   * @param classifyEvent `alive` = the model is working without output; `last` = the call has succeeded
   */
  stream<T>(
    open: (signal: AbortSignal) => AsyncIterable<T>,
    classifyEvent: (event: T) => 'alive' | 'part' | 'last',
    options: GuardCallOptions,
  ): AsyncGenerator<T, void, undefined>
  circuit(): CircuitState
}

/** Creates the guard of one model. @param slots shared with other models of the provider */
export function createModelGuard(gate: ProviderGate, slots: ProviderSlots, clock: GuardClock): ModelGuard {
  const circuit = createCircuitBreaker(clock.now)
  return {
    async run(call, options) {
      const attempts = await enterQueue({ gate, slots, clock, circuit, options, isStream: false })
      try {
        for (let attempt = 1; ; attempt++) {
          try {
            await attempts.waitForRetryAfter()
            const value = await call(attempts.signal)
            attempts.recordSuccess()
            return value
          } catch (error) {
            await attempts.afterFailure(error, attempt)
          }
        }
      } finally {
        attempts.leave()
      }
    },

    async *stream(open, classifyEvent, options) {
      const attempts = await enterQueue({ gate, slots, clock, circuit, options, isStream: true })
      let hasYielded = false
      try {
        for (let attempt = 1; ; attempt++) {
          try {
            await attempts.waitForRetryAfter()
            for await (const event of open(attempts.signal)) {
              attempts.noteEvent()
              const meaning = classifyEvent(event)
              if (meaning === 'alive') continue
              if (meaning === 'last') attempts.recordSuccess()
              hasYielded = true
              attempts.pauseClock()
              yield event
              attempts.resumeClock()
            }
            attempts.recordSuccess()
            return
          } catch (error) {
            await attempts.afterFailure(error, hasYielded ? MAX_ATTEMPTS : attempt)
          }
        }
      } finally {
        attempts.leave()
      }
    },

    circuit: () => circuit.state(),
  }
}

interface GuardedCall {
  gate: ProviderGate
  slots: ProviderSlots
  clock: GuardClock
  circuit: CircuitBreaker
  options: GuardCallOptions
  isStream: boolean
}

/** Waits in the provider's queue. The result controls one call over all its attempts. */
async function enterQueue(entry: GuardedCall) {
  const { gate, circuit, options } = entry
  options.signal?.throwIfAborted()
  rejectWhenOpen(gate, circuit)
  const scope = linkAbort(options.signal)
  const timers = startTimers(entry, (reason) => scope.abort(reason))
  if (options.urgent) timers.resume()
  const { release, call } = await acquireSlot(entry, scope.signal).catch((error) => {
    timers.pause()
    scope.dispose()
    throw error
  })
  timers.resume()
  // the last failure of the provider tells more than the timeout of the retries
  let lastFailure: ProviderFailure | undefined

  return {
    signal: scope.signal,
    noteEvent: timers.noteEvent,
    pauseClock: timers.pause,
    resumeClock: timers.resume,
    recordSuccess: call.recordSuccess,

    /** Waits until `Retry-After` has passed; fails at once where that exceeds the remaining time. */
    async waitForRetryAfter() {
      const waitMs = gate.blockedUntil - entry.clock.now()
      if (waitMs <= 0) return
      if (waitMs >= timers.remainingMs()) {
        throw new ProviderFailure('status', 'Retry-After', {
          status: gate.blockedStatus ?? 429,
          retryAfterMs: waitMs,
        })
      }
      await sleep(waitMs, scope.signal)
    },

    /** Returns when the next attempt may start; throws the caller's error if there is none. */
    async afterFailure(error: unknown, attempt: number) {
      if (options.signal?.aborted) throw options.signal.reason
      const failure = toProviderFailure(scope.signal.aborted ? scope.signal.reason : error)
      const waitMs = scope.signal.aborted
        ? undefined
        : computeRetryWaitMs(entry, failure, attempt, timers.remainingMs())
      if (waitMs === undefined) {
        if (failure.unhealthy) call.recordFailure(failure.status)
        else call.recordSuccess()
        throw toProviderError(gate.provider, scope.signal.aborted ? (lastFailure ?? failure) : failure)
      }
      lastFailure = failure
      await sleep(waitMs, scope.signal).catch(() => {
        throw options.signal?.aborted ? options.signal.reason : toProviderError(gate.provider, failure)
      })
    },

    leave() {
      timers.pause()
      scope.dispose()
      // closes a connection that the consumer of a stream left open
      scope.abort()
      call.abandon()
      release()
    },
  }
}

/** Milliseconds until the next attempt; undefined where there is none or no time is left for it. */
function computeRetryWaitMs(
  { gate, clock }: GuardedCall,
  failure: ProviderFailure,
  attempt: number,
  remainingMs: number,
): number | undefined {
  const now = clock.now()
  if (failure.retryAfterMs !== undefined) {
    const until = now + Math.min(failure.retryAfterMs, MAX_RETRY_AFTER_MS)
    if (until > gate.blockedUntil) {
      gate.blockedUntil = until
      gate.blockedStatus = failure.status ?? 429
    }
  }
  if (!failure.retryable || attempt >= MAX_ATTEMPTS) return undefined
  const waitMs = backoffMs(attempt, { ...BACKOFF, random: clock.random })
  return Math.max(waitMs, gate.blockedUntil - now) < remainingMs ? waitMs : undefined
}

async function acquireSlot(
  entry: GuardedCall,
  signal: AbortSignal,
): Promise<{ release: () => void; call: CircuitCall }> {
  const { gate, slots, circuit, options } = entry
  const release = await slots.acquire(options.urgent ? 'urgent' : 'background', signal).catch(() => {
    throw toAbortReason(entry, signal)
  })
  try {
    // the circuit may have opened during the wait; the check and `enter` must be synchronous, or two calls would be the
    // probe
    rejectWhenOpen(gate, circuit)
    return { release, call: circuit.enter() }
  } catch (error) {
    release()
    throw error
  }
}

function rejectWhenOpen(gate: ProviderGate, circuit: CircuitBreaker): void {
  const retryAfterMs = circuit.blockedForMs()
  if (retryAfterMs <= 0) return
  const status = circuit.lastStatus()
  const failure = { retryAfterMs, ...omitUndefined({ status }) }
  throw toProviderError(gate.provider, new ProviderFailure('circuit-open', 'open', failure))
}

/** The caller's own reason if the caller aborted, else the timeout. */
function toAbortReason({ gate, options }: GuardedCall, signal: AbortSignal): unknown {
  return options.signal?.aborted
    ? options.signal.reason
    : toProviderError(gate.provider, toProviderFailure(signal.reason))
}

/**
 * The timeouts of one call: over all attempts together, and for a stream until its first event. A model that produces
 * output is never cut off: from then on the first timeout limits the gap between events.
 */
function startTimers(
  { gate, isStream, options: { urgent, timeoutFactor = 1 } }: GuardedCall,
  abort: (reason: ProviderFailure) => void,
) {
  const countdown = (ms: number) =>
    createCountdown(ms, () => abort(new ProviderFailure('timeout', `no answer within ${ms} ms`)))
  const total = countdown((urgent ? gate.timeoutMs : gate.ingestTimeoutMs) * timeoutFactor)
  const first = isStream && urgent ? countdown(Math.min(gate.firstTokenTimeoutMs, gate.timeoutMs)) : undefined
  let isWaitingForFirst = true
  return {
    remainingMs: total.remainingMs,
    pause() {
      total.stop()
      first?.stop()
    },
    resume() {
      total.start()
      if (isWaitingForFirst) first?.start()
    },
    noteEvent() {
      isWaitingForFirst = false
      first?.stop()
      total.reset()
    },
  }
}
