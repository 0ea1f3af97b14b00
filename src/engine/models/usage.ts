import { Durations } from '../../lib/durations.js'
import { classifyError, type DegradedClass } from '../base/degraded.js'

/** Upper bounds of the duration histogram, in seconds; longer calls are in `count` only. */
const DURATION_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300] as const

/** Usage of a model since the start of the daemon. */
export interface ModelUse {
  calls: number
  /** number of calls without an answer; aborted calls do not count */
  failed: number
  inputTokens: number
  outputTokens: number
}

/** Usage with outcomes and durations. */
export interface ModelRecord extends ModelUse {
  /** failed calls by cause */
  failures: Map<DegradedClass, number>
  /** durations of completed calls, with waits and retries */
  durations: Durations
}

export function createModelRecord(): ModelRecord {
  const durations = new Durations(DURATION_SECONDS)
  return { calls: 0, failed: 0, inputTokens: 0, outputTokens: 0, failures: new Map(), durations }
}

/**
 * Counts a call that begins.
 *
 * @returns call it once at the end, with the error of a failed call; not for an aborted call
 */
export function startCall(record: ModelRecord): (error?: unknown) => void {
  record.calls++
  const started = performance.now()
  return (error) => {
    const seconds = (performance.now() - started) / 1000
    const { durations, failures } = record
    durations.record(seconds)
    if (error === undefined) return
    record.failed++
    const cause = classifyError(error)
    failures.set(cause, (failures.get(cause) ?? 0) + 1)
  }
}

/** Counts a call with its outcome. */
export async function countCall<T>(
  record: ModelRecord,
  signal: AbortSignal | undefined,
  call: () => Promise<T>,
): Promise<T> {
  const endCall = startCall(record)
  try {
    const value = await call()
    endCall()
    return value
  } catch (error) {
    if (signal?.aborted !== true) endCall(error ?? new Error('a call failed'))
    throw error
  }
}
