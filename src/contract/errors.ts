/**
 * Every failure of this project in one table: HTTP status, exit code of the command line, and whether a retry can help.
 * Free of zod, so the engine and the CLI may load it.
 */
export const ERRORS = {
  'invalid-request': { status: 400, exit: 2, retryable: false },
  'malformed-json': { status: 400, exit: 2, retryable: false },
  'invalid-cursor': { status: 400, exit: 2, retryable: false },
  'invalid-sync-policy': { status: 400, exit: 2, retryable: false },
  'not-a-web-source': { status: 400, exit: 2, retryable: false },
  'not-a-connector': { status: 400, exit: 2, retryable: false },
  'not-a-drive': { status: 400, exit: 2, retryable: false },
  'invalid-bundle': { status: 400, exit: 2, retryable: false },
  'profile-mode-mismatch': { status: 400, exit: 2, retryable: false },
  unauthenticated: { status: 401, exit: 4, retryable: false },
  'scope-missing': { status: 403, exit: 4, retryable: false },
  'host-refused': { status: 403, exit: 4, retryable: false },
  'not-found': { status: 404, exit: 5, retryable: false },
  'method-not-allowed': { status: 405, exit: 1, retryable: false },
  'slug-taken': { status: 409, exit: 6, retryable: false },
  'id-taken': { status: 409, exit: 6, retryable: false },
  'path-taken': { status: 409, exit: 6, retryable: false },
  'embedding-frozen': { status: 409, exit: 6, retryable: false },
  'migration-active': { status: 409, exit: 6, retryable: false },
  'version-mismatch': { status: 409, exit: 6, retryable: false },
  'already-terminal': { status: 409, exit: 6, retryable: false },
  'asset-external': { status: 409, exit: 6, retryable: false },
  'deletion-active': { status: 409, exit: 6, retryable: false },
  'idempotency-conflict': { status: 409, exit: 6, retryable: false },
  'upload-too-large': { status: 413, exit: 7, retryable: false },
  'asset-too-large': { status: 413, exit: 7, retryable: false },
  'body-too-large': { status: 413, exit: 7, retryable: false },
  'reindex-over-quota': { status: 413, exit: 7, retryable: false },
  'research-limits-exceeded': { status: 422, exit: 7, retryable: false },
  'capacity-exceeded': { status: 429, exit: 7, retryable: true },
  'quota-exceeded': { status: 429, exit: 7, retryable: false },
  'rate-limited': { status: 429, exit: 7, retryable: true },
  busy: { status: 429, exit: 7, retryable: true },
  internal: { status: 500, exit: 1, retryable: false },
  'data-damaged': { status: 500, exit: 1, retryable: false },
  'upload-failed': { status: 500, exit: 1, retryable: true },
  'not-configured': { status: 501, exit: 9, retryable: false },
  'crawl-failed': { status: 502, exit: 8, retryable: true },
  'connector-failed': { status: 502, exit: 8, retryable: true },
  'provider-failed': { status: 502, exit: 8, retryable: true },
  unavailable: { status: 503, exit: 8, retryable: true },
  'provider-not-configured': { status: 503, exit: 9, retryable: false },
  'storage-full': { status: 503, exit: 8, retryable: true },
} as const

export type ErrorCode = keyof typeof ERRORS

/**
 * Exit codes of the command line in addition to those of the table. New codes may be added; an unknown one means
 * failure.
 */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  partial: 3,
  notAllowed: 4,
  notFound: 5,
  conflict: 6,
  overLimit: 7,
  unavailable: 8,
  notConfigured: 9,
  checkFailed: 10,
  interrupted: 130,
  terminated: 143,
} as const

/**
 * A failure that is part of the contract. The message is one sentence that names the subject, its value and the rule.
 */
export class KsError extends Error {
  readonly code: ErrorCode
  /** Seconds after which the caller may retry, if known. */
  readonly retryAfter?: number
  /** Fields of the body besides the message; only for codes whose body is documented. */
  readonly details?: Record<string, unknown>

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; retryAfter?: number; details?: Record<string, unknown> } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'KsError'
    this.code = code
    if (options.retryAfter !== undefined) this.retryAfter = options.retryAfter
    if (options.details !== undefined) this.details = options.details
  }
}

/** The error of a lookup without a result in the caller's tenant. */
export function notFoundError(kind: string, id: string): KsError {
  return new KsError('not-found', `no ${kind} ${JSON.stringify(id.slice(0, 100))} here`)
}
