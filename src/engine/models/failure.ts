import { KsError } from '../../contract/errors.js'

export type FailureKind =
  | 'status'
  | 'unreachable'
  | 'reset'
  | 'timeout'
  | 'malformed'
  | 'circuit-open'
  /** the model was given more than it can hold */
  | 'context-too-long'
  | 'program'
  | 'unexpected'

/** What a refusal is about, beyond its status. */
export type Refusal =
  /** the account is used up: asking again does not help */
  | { kind: 'quota' }
  /** the provider has no such model, by the name it was asked under */
  | { kind: 'unknown-model'; model: string }

interface FailureDetails {
  status?: number
  retryAfterMs?: number
  refusal?: Refusal
}

/**
 * Why a provider could not answer. Safe to log by construction: it has no cause, and `detail` is always one of our
 * own phrases, never text from the wire.
 */
export class ProviderFailure extends Error {
  readonly kind: FailureKind
  /** of the response; of an open circuit that of the last failure */
  readonly status?: number
  /** how long the provider asked to be left alone */
  readonly retryAfterMs?: number
  readonly refusal?: Refusal

  constructor(kind: FailureKind, detail: string, options: FailureDetails = {}) {
    super(detail)
    this.name = 'ProviderFailure'
    this.kind = kind
    if (options.status !== undefined) this.status = options.status
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs
    if (options.refusal !== undefined) this.refusal = options.refusal
  }

  /** Whether the same call may succeed a moment later. */
  get retryable(): boolean {
    if (this.kind === 'status') return this.refusal === undefined && isBusyStatus(this.status ?? 0)
    return this.kind === 'reset' || this.kind === 'unreachable'
  }

  /** Whether the failure says something about the provider's health, rather than about one request. */
  get unhealthy(): boolean {
    // a program that ends with an error may have been given what it cannot read
    if (this.kind === 'program' || this.kind === 'context-too-long') return false
    return this.kind !== 'status' || (this.refusal === undefined && isBusyStatus(this.status ?? 0))
  }
}

// 501 and 505 are 5xx, but say that the server will never do it
function isBusyStatus(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status !== 501 && status !== 505)
}

/** Whatever a provider's code threw, as a failure that is safe to show. */
export function toFailure(error: unknown): ProviderFailure {
  if (error instanceof ProviderFailure) return error
  // what else arrives here is a fault of ours, and its message may quote anything
  return new ProviderFailure('unexpected', error instanceof Error ? error.name : typeof error)
}

/** The one sentence that leaves this part: provider and class of failure, nothing that came over the wire. */
export function toKsError(provider: string, failure: ProviderFailure): KsError {
  const message = `provider ${JSON.stringify(provider)} ${describeFailure(failure)}`
  const options = { cause: failure }
  if (failure.retryAfterMs === undefined) return new KsError('provider-failed', message, options)
  return new KsError('provider-failed', message, { ...options, retryAfter: Math.ceil(failure.retryAfterMs / 1000) })
}

function describeFailure(failure: ProviderFailure): string {
  switch (failure.kind) {
    case 'status':
      return describeRefusal(failure) ?? describeStatus(failure.status ?? 0)
    case 'unreachable':
      return `could not be reached: ${failure.message}`
    case 'reset':
      return 'closed the connection before its answer was complete'
    case 'timeout':
      return `gave ${failure.message}`
    case 'malformed':
      return `sent an answer that cannot be used: ${failure.message}`
    case 'context-too-long':
      return 'was given more text than its model can hold'
    case 'circuit-open':
      return 'keeps failing and is left alone for a while'
    case 'program':
      return `could not do it: its program ${failure.message}`
    case 'unexpected':
      return `could not be called: ${failure.message}`
  }
}

function describeRefusal({ refusal, status }: ProviderFailure): string | undefined {
  if (refusal === undefined) return undefined
  if (refusal.kind === 'quota') return `has no quota left (${status})`
  const model = JSON.stringify(refusal.model)
  // a wrong address is answered like this too
  return status === 404 ? `has no model ${model}, or not at this address (404)` : `does not know the model ${model}`
}

function describeStatus(status: number): string {
  if (status === 429) return 'is limiting the rate of calls (429)'
  if (status === 401 || status === 403) return `refused the credentials (${status})`
  if (status >= 500) return 'failed on its side (5xx)'
  if (status >= 400) return `refused the request (${status === 404 ? 404 : '4xx'})`
  return 'answered with a redirect (3xx), which is not followed'
}
