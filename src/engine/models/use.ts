import { classOf, type DegradedClass } from '../base/degraded.js'

/** Upper bounds of the counts of durations, in seconds; longer calls are in `count` alone. */
const DURATION_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300] as const

/** What a model was used for since the start of the daemon. */
export interface ModelUse {
  calls: number
  /** of the calls, those that ended without an answer; what was abandoned is none of them */
  failed: number
  inputTokens: number
  outputTokens: number
}

/** The same, and how it went. */
export interface ModelRecord extends ModelUse {
  /** failed calls by what kept them from an answer */
  failures: Map<DegradedClass, number>
  /** how long calls took that ended, with their waits and further tries; `upTo`: calls of at most so many seconds */
  durations: { count: number; seconds: number; upTo: { most: number; calls: number }[] }
}

export function noUse(): ModelRecord {
  const durations = { count: 0, seconds: 0, upTo: DURATION_SECONDS.map((most) => ({ most, calls: 0 })) }
  return { calls: 0, failed: 0, inputTokens: 0, outputTokens: 0, failures: new Map(), durations }
}

/**
 * Counts a call that begins.
 *
 * @returns to be told once how it ended: with the error where it failed. A call that was abandoned is not told
 */
export function begun(record: ModelRecord): (error?: unknown) => void {
  record.calls++
  const started = performance.now()
  return (error) => {
    const seconds = (performance.now() - started) / 1000
    const { durations, failures } = record
    durations.count++
    durations.seconds += seconds
    for (const bucket of durations.upTo) if (seconds <= bucket.most) bucket.calls++
    if (error === undefined) return
    record.failed++
    const why = classOf(error)
    failures.set(why, (failures.get(why) ?? 0) + 1)
  }
}

/** Counts a call with how it ended. */
export async function counted<T>(
  record: ModelRecord,
  signal: AbortSignal | undefined,
  call: () => Promise<T>,
): Promise<T> {
  const ended = begun(record)
  try {
    const value = await call()
    ended()
    return value
  } catch (error) {
    if (signal?.aborted !== true) ended(error ?? new Error('a call failed'))
    throw error
  }
}
