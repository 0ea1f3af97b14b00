export type ProviderFailureKind =
  | 'status'
  | 'unreachable'
  | 'reset'
  | 'timeout'
  | 'malformed'
  | 'circuit-open'
  /** the input exceeds the model's context window */
  | 'context-too-long'
  | 'program'
  | 'unexpected'

/** Details of a rejected request beyond its status. */
export type ProviderRejection =
  /** the quota of the account is used up: a retry does not help */
  | { kind: 'quota' }
  /** the provider does not know the model under the requested name */
  | { kind: 'unknown-model'; model: string }

interface ProviderFailureDetails {
  status?: number
  retryAfterMs?: number
  refusal?: ProviderRejection
}

/**
 * The reason why a provider call failed. Safe to log by construction: it has no cause, and `detail` is always one of
 * our own phrases, never text of the response.
 */
export class ProviderFailure extends Error {
  readonly kind: ProviderFailureKind
  /** HTTP status of the response; of an open circuit, that of the last failure */
  readonly status?: number
  /** how long the provider wants no requests */
  readonly retryAfterMs?: number
  readonly refusal?: ProviderRejection

  constructor(kind: ProviderFailureKind, detail: string, options: ProviderFailureDetails = {}) {
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

  /** Whether the failure is about the provider's health rather than about one request. */
  get unhealthy(): boolean {
    // a program that ends with an error may have received unreadable input
    if (this.kind === 'program' || this.kind === 'context-too-long') return false
    return this.kind !== 'status' || (this.refusal === undefined && isBusyStatus(this.status ?? 0))
  }
}

// 501 and 505 are 5xx, but permanent
function isBusyStatus(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status !== 501 && status !== 505)
}
