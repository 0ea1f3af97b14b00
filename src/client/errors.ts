import { ERRORS } from '../contract/errors.js'

/** A failure that the service reported; the message is the service's own. */
export class ApiError extends Error {
  /** address of a service on another machine; absent for the local daemon, whose owner may do more about it */
  remoteUrl?: string
  /** error code such as `slug-taken`; `http-418` if the response had none */
  readonly code: string
  readonly status: number
  readonly traceId?: string
  /** seconds after which the caller may try again */
  readonly retryAfter?: number
  /** advice of the service, if any */
  readonly hint?: string

  constructor(failure: {
    code: string
    status: number
    message: string
    traceId?: string
    retryAfter?: number
    hint?: string
  }) {
    super(failure.message)
    this.name = 'ApiError'
    this.code = failure.code
    this.status = failure.status
    if (failure.traceId !== undefined) this.traceId = failure.traceId
    if (failure.retryAfter !== undefined) this.retryAfter = failure.retryAfter
    if (failure.hint !== undefined) this.hint = failure.hint
  }
}

/** No response: nothing listens, the connection broke, or the timeout expired. */
export class ConnectionError extends Error {
  /** address of a service on another machine */
  remoteUrl?: string
  readonly code: 'unreachable' | 'timeout'
  /** the errno of the system, such as `ECONNREFUSED` */
  readonly errno?: string

  constructor(code: 'unreachable' | 'timeout', message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'ConnectionError'
    this.code = code
    const errno = errnoOf(options.cause)
    if (errno !== undefined) this.errno = errno
  }
}

/** Marks an error as one of a remote service: its hints name what a client can do. */
export function markRemote(error: unknown, url: string): void {
  if (error instanceof ApiError || error instanceof ConnectionError) error.remoteUrl = url
}

/** The errno of a system error, if it has one. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** Code for a response without `x-error-code`: the first error of the contract with this status. */
export function codeOfStatus(status: number): string {
  const entry = Object.entries(ERRORS).find(([, row]) => row.status === status)
  return entry === undefined ? `http-${status}` : entry[0]
}

/** The daemon exited before it responded. */
export class DaemonStartError extends Error {
  /** last lines that the daemon logged */
  readonly logTail: string[]

  constructor(message: string, logTail: string[]) {
    super(message)
    this.name = 'DaemonStartError'
    this.logTail = logTail
  }
}
