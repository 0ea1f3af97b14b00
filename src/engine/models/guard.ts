import { createCountdown, linkAbort, sleep } from '../../lib/abort.js'
import { defined } from '../../lib/defined.js'
import { backoffMs } from '../../lib/retry.js'
import { ProviderFailure } from '../base/provider-failure.js'
import { type Circuit, type CircuitCall, type CircuitState, createCircuit } from './circuit.js'
import { toFailure, toKsError } from './failure.js'
import type { Slots } from './slots.js'

/** The first attempt and three more. */
const MAX_TRIES = 4

/** With four attempts: waits of up to 0.3, 0.6 and 1.2 s, so that a query survives the restart of a server. */
const BACKOFF = { baseMs: 300, capMs: 5000 }

/** Limit of `Retry-After`: a wrong header must not disable the provider for longer. */
const MAX_QUIET_MS = 3_600_000

/** The state that all models of one provider share. */
export interface ProviderGate {
  readonly provider: string
  /** timeouts of foreground and background calls */
  readonly timeoutMs: number
  readonly ingestTimeoutMs: number
  readonly firstTokenTimeoutMs: number
  /** epoch milliseconds before which the provider must not be called (`Retry-After`) */
  quietUntil: number
  /** status of the response with that `Retry-After`; 429 without one */
  quietStatus?: number
}

export interface GuardClock {
  now: () => number
  random: () => number
}

export interface CallOptions {
  signal?: AbortSignal | undefined
  /**
   * a request waits for the answer: the call goes first in the queue, and its time in the queue counts against the
   * timeout
   */
  urgent: boolean
  /** multiple of the timeout; default 1 */
  times?: number
}

/** Protects the calls of one model. Every failure becomes a `KsError`, an abort the signal's reason. */
export interface Guard {
  /** Runs a call with timeout, retries, circuit breaker and concurrency limit. */
  run<T>(call: (signal: AbortSignal) => Promise<T>, options: CallOptions): Promise<T>
  /**
   * The same for a stream, which is not retried once an event was passed on. The timeout restarts with every event, and
   * the consumer's time is not counted.
   *
   * @param meaningOf `alive` = the model is working without output; `last` = the call has succeeded
   */
  stream<T>(
    open: (signal: AbortSignal) => AsyncIterable<T>,
    meaningOf: (event: T) => 'alive' | 'part' | 'last',
    options: CallOptions,
  ): AsyncGenerator<T, void, undefined>
  circuit(): CircuitState
}

/** Creates the guard of one model. @param slots shared with other models of the provider */
export function createGuard(gate: ProviderGate, slots: Slots, clock: GuardClock): Guard {
  const circuit = createCircuit(clock.now)
  return {
    async run(call, options) {
      const visit = await enter({ gate, slots, clock, circuit, options, streams: false })
      try {
        for (let attempt = 1; ; attempt++) {
          try {
            await visit.untilQuietEnds()
            const value = await call(visit.signal)
            visit.succeeded()
            return value
          } catch (error) {
            await visit.afterFailure(error, attempt)
          }
        }
      } finally {
        visit.leave()
      }
    },

    async *stream(open, meaningOf, options) {
      const visit = await enter({ gate, slots, clock, circuit, options, streams: true })
      let passedOn = false
      try {
        for (let attempt = 1; ; attempt++) {
          try {
            await visit.untilQuietEnds()
            for await (const event of open(visit.signal)) {
              visit.spoken()
              const meaning = meaningOf(event)
              if (meaning === 'alive') continue
              if (meaning === 'last') visit.succeeded()
              passedOn = true
              visit.pauseClock()
              yield event
              visit.resumeClock()
            }
            visit.succeeded()
            return
          } catch (error) {
            await visit.afterFailure(error, passedOn ? MAX_TRIES : attempt)
          }
        }
      } finally {
        visit.leave()
      }
    },

    circuit: () => circuit.state(),
  }
}

interface Entry {
  gate: ProviderGate
  slots: Slots
  clock: GuardClock
  circuit: Circuit
  options: CallOptions
  streams: boolean
}

/** Waits in the provider's queue. The result controls one call over all its attempts. */
async function enter(entry: Entry) {
  const { gate, circuit, options } = entry
  options.signal?.throwIfAborted()
  refuseWhenOpen(gate, circuit)
  const scope = linkAbort(options.signal)
  const timers = startTimers(entry, (reason) => scope.abort(reason))
  if (options.urgent) timers.resume()
  const { release, call } = await takeSlot(entry, scope.signal).catch((error) => {
    timers.pause()
    scope.dispose()
    throw error
  })
  timers.resume()
  // the last failure of the provider tells more than the timeout of the retries
  let earlier: ProviderFailure | undefined

  return {
    signal: scope.signal,
    spoken: timers.spoken,
    pauseClock: timers.pause,
    resumeClock: timers.resume,
    succeeded: call.succeeded,

    /** Waits until `Retry-After` has passed; fails at once where that exceeds the remaining time. */
    async untilQuietEnds() {
      const waitMs = gate.quietUntil - entry.clock.now()
      if (waitMs <= 0) return
      if (waitMs >= timers.left()) {
        throw new ProviderFailure('status', 'Retry-After', {
          status: gate.quietStatus ?? 429,
          retryAfterMs: waitMs,
        })
      }
      await sleep(waitMs, scope.signal)
    },

    /** Returns when the next attempt may start; throws the caller's error if there is none. */
    async afterFailure(error: unknown, attempt: number) {
      if (options.signal?.aborted) throw options.signal.reason
      const failure = toFailure(scope.signal.aborted ? scope.signal.reason : error)
      const waitMs = scope.signal.aborted ? undefined : waitBeforeRetry(entry, failure, attempt, timers.left())
      if (waitMs === undefined) {
        if (failure.unhealthy) call.failed(failure.status)
        else call.succeeded()
        throw toKsError(gate.provider, scope.signal.aborted ? (earlier ?? failure) : failure)
      }
      earlier = failure
      await sleep(waitMs, scope.signal).catch(() => {
        throw options.signal?.aborted ? options.signal.reason : toKsError(gate.provider, failure)
      })
    },

    leave() {
      timers.pause()
      scope.dispose()
      // closes a connection that the consumer of a stream left open
      scope.abort()
      call.abandoned()
      release()
    },
  }
}

/** Milliseconds until the next attempt; undefined where there is none or no time is left for it. */
function waitBeforeRetry(
  { gate, clock }: Entry,
  failure: ProviderFailure,
  attempt: number,
  leftMs: number,
): number | undefined {
  const now = clock.now()
  if (failure.retryAfterMs !== undefined) {
    const until = now + Math.min(failure.retryAfterMs, MAX_QUIET_MS)
    if (until > gate.quietUntil) {
      gate.quietUntil = until
      gate.quietStatus = failure.status ?? 429
    }
  }
  if (!failure.retryable || attempt >= MAX_TRIES) return undefined
  const waitMs = backoffMs(attempt, { ...BACKOFF, random: clock.random })
  return Math.max(waitMs, gate.quietUntil - now) < leftMs ? waitMs : undefined
}

async function takeSlot(entry: Entry, signal: AbortSignal): Promise<{ release: () => void; call: CircuitCall }> {
  const { gate, slots, circuit, options } = entry
  const release = await slots.acquire(options.urgent, signal).catch(() => {
    throw whyAborted(entry, signal)
  })
  try {
    // the circuit may have opened during the wait; the check and `enter` must be synchronous, or two calls would be the
    // probe
    refuseWhenOpen(gate, circuit)
    return { release, call: circuit.enter() }
  } catch (error) {
    release()
    throw error
  }
}

function refuseWhenOpen(gate: ProviderGate, circuit: Circuit): void {
  const retryAfterMs = circuit.blockedFor()
  if (retryAfterMs <= 0) return
  const status = circuit.lastStatus()
  const failure = { retryAfterMs, ...defined({ status }) }
  throw toKsError(gate.provider, new ProviderFailure('circuit-open', 'open', failure))
}

/** The caller's own reason if the caller aborted, else the timeout. */
function whyAborted({ gate, options }: Entry, signal: AbortSignal): unknown {
  return options.signal?.aborted ? options.signal.reason : toKsError(gate.provider, toFailure(signal.reason))
}

/**
 * The timeouts of one call: over all attempts together, and for a stream until its first event. A model that produces
 * output is never cut off: from then on the first timeout limits the gap between events.
 */
function startTimers(
  { gate, streams, options: { urgent, times = 1 } }: Entry,
  abort: (reason: ProviderFailure) => void,
) {
  const countdown = (ms: number) =>
    createCountdown(ms, () => abort(new ProviderFailure('timeout', `no answer within ${ms} ms`)))
  const total = countdown((urgent ? gate.timeoutMs : gate.ingestTimeoutMs) * times)
  const first = streams && urgent ? countdown(Math.min(gate.firstTokenTimeoutMs, gate.timeoutMs)) : undefined
  let waitsForFirst = true
  return {
    left: total.left,
    pause() {
      total.stop()
      first?.stop()
    },
    resume() {
      total.start()
      if (waitsForFirst) first?.start()
    },
    spoken() {
      waitsForFirst = false
      first?.stop()
      total.reset()
    },
  }
}
