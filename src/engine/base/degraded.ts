import { KsError } from '../../contract/errors.js'
import type { Degradation } from '../../contract/gateway/degraded.js'
import { ProviderFailure } from './provider-failure.js'

/**
 * A part that an answer had to do without. A part of the engine that fails without stopping the answer reports one of
 * these: in `Retrieved.degraded` during retrieval, next to a failed attempt while the answer is written. From there it
 * reaches the metrics, the answer's metadata, the trace, reports and the command line.
 */
export type { Degradation } from '../../contract/gateway/degraded.js'

export type DegradedClass = Degradation['class']

/** A part that could not do its work for a reason other than a failed call, such as an index that is being rebuilt. */
export function createDegradation(
  part: Degradation['part'],
  reason: string,
  degradedClass: DegradedClass = 'unavailable',
): Degradation {
  return { part, class: degradedClass, reason }
}

/**
 * A part whose call failed.
 *
 * @param problem start of a sentence, such as `the question could not be embedded`
 */
export function toDegradation(part: Degradation['part'], problem: string, error: unknown): Degradation {
  const degradedClass = classifyError(error)
  const cause =
    error instanceof KsError
      ? error.message
      : degradedClass === 'timeout'
        ? 'there was no answer in time'
        : 'an unexpected failure'
  return { part, class: degradedClass, reason: `${problem}: ${cause}` }
}

/** The same fields for metrics, metadata and trace steps. */
export function toDegradedFields(all: readonly Degradation[]) {
  const distinct = [...new Map(all.map((one) => [`${one.part} ${one.class} ${one.reason}`, one])).values()]
  // one class for all: prefer one that the user can act on over a temporary outage
  const degradedClass = (distinct.find((one) => one.class !== 'unavailable') ?? distinct[0])?.class
  return {
    degraded: distinct.length > 0,
    degradedReasons: distinct.map(({ reason }) => reason),
    ...(degradedClass === undefined ? {} : { degradedClass, degradations: distinct }),
  }
}

/** The class of a failure, by which a reader knows what to do. */
export function classifyError(error: unknown): DegradedClass {
  if (isTimeout(error)) return 'timeout'
  if (!(error instanceof KsError)) return 'unavailable'
  if (error.code === 'quota-exceeded') return 'budget-spent'
  return error.cause instanceof ProviderFailure ? classifyProviderFailure(error.cause) : 'unavailable'
}

function classifyProviderFailure({ kind, status, refusal }: ProviderFailure): DegradedClass {
  if (kind === 'timeout') return 'timeout'
  if (kind === 'context-too-long' || status === 413) return 'context-too-long'
  if (refusal?.kind === 'quota' || status === 402) return 'budget-spent'
  switch (status) {
    case 401:
    case 403:
      return 'auth'
    case 408:
    case 504:
      return 'timeout'
    case 429:
      return 'rate-limited'
    default:
      return 'unavailable'
  }
}

/** `AbortSignal.timeout` aborts with this error. */
function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError'
}
