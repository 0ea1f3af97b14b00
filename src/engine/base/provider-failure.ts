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
