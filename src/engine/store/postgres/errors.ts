import { KsError } from '../../../contract/errors.js'

/** Retry-After of a database that does not respond */
const RETRY_SECONDS = 2

/** A failure as PostgreSQL, or its socket, reports it. */
interface PostgresFailure {
  code: string
  message: string
}

/** Another transaction conflicted: the same program may succeed when it runs again. */
const CONFLICT_CODES: ReadonlySet<string> = new Set(['40001', '40P01'])
/**
 * A unique or foreign key is violated by rows that this transaction cannot see: another one has inserted the key, or
 * removed the parent, since this program read. The next run sees them and returns the same result as without a race.
 */
const RACE_CODES: ReadonlySet<string> = new Set(['23505', '23503'])
const MAX_RUNS = 10
/** a key that is violated repeatedly is no race */
const MAX_RUNS_AFTER_RACE = 3
/** connection failures, shutdown and start of the server, too many connections, a standby that is not promoted yet */
const UNAVAILABLE_CODE = /^(08...|57P0[123]|53300|25006|E[A-Z]+)$/
/** `lock_timeout`, and `idle_in_transaction_session_timeout` of a blocked program */
const TIMEOUT_CODES: ReadonlySet<string> = new Set(['55P03', '25P03', '57014'])
/** wrong name or password, no such database; these messages contain only the names */
const ACCESS_DENIED_CODE = /^(28...|3D000)$/
const NO_PASSWORD = /password must be a (non-empty )?string/
const DISK_FULL = '53100'
const SQLSTATE = /^[0-9A-Z]{5}$/
/** messages of `pg` and its pool without a code */
const CONNECTION_ENDED_MESSAGE =
  /^(Connection terminated|Client (was closed|has encountered)|Query read timeout|timeout expired|Cannot use a pool)/
const POOL_TIMEOUT_MESSAGE = 'timeout exceeded when trying to connect'

/** A statement that PostgreSQL refused. Contains neither values nor details of rows, so that it may be logged. */
export class StatementRefused extends Error {
  readonly code: string

  constructor({ code, message }: PostgresFailure) {
    super(`PostgreSQL refused a statement (${code}): ${message}`)
    this.name = 'StatementRefused'
    this.code = code
  }
}

/**
 * The connection was lost during a commit, whose result is unknown. A caller that retries must first check whether the
 * work is done.
 */
export class CommitUnknown extends KsError {
  constructor() {
    super('unavailable', 'the database did not confirm whether it has committed', { retryAfter: RETRY_SECONDS })
    this.name = 'CommitUnknown'
  }
}

/** Maximum number of runs of a program that fails with an error, the first included; 1 where a retry cannot succeed. */
export function maxRunsAfter(error: unknown): number {
  if (isConflict(error)) return MAX_RUNS
  return RACE_CODES.has(describeFailure(error).code) ? MAX_RUNS_AFTER_RACE : 1
}

function isConflict(error: unknown): boolean {
  return CONFLICT_CODES.has(describeFailure(error).code) || isOutdated(error)
}

/** Whether the connection, and not the statement, has failed. */
export function isConnectionFailure(error: unknown): boolean {
  const { code, message } = describeFailure(error)
  return UNAVAILABLE_CODE.test(code) || CONNECTION_ENDED_MESSAGE.test(message)
}

/** Converts an error while a database is opened, including denied access, which no retry fixes. */
export function toOpenError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof KsError) return error
  const { code, message } = describeFailure(error)
  if (ACCESS_DENIED_CODE.test(code) || NO_PASSWORD.test(message))
    return new KsError(
      'unavailable',
      NO_PASSWORD.test(message)
        ? 'the database requires a password, but none was given'
        : `the database denies access: ${message}`,
    )
  return toCallerError(error)
}

/** Whether a connection must be closed: it is broken, or has statements prepared for an earlier schema. */
export function isConnectionUnusable(error: unknown): boolean {
  return isConnectionFailure(error) || isOutdated(error)
}

function isOutdated(error: unknown): boolean {
  const { code, message } = describeFailure(error)
  return code === '0A000' && message.startsWith('cached plan')
}

/** Converts an error for the caller of a program: an error of `pg` may contain the address or cells of a row. */
export function toCallerError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof KsError || error instanceof StatementRefused) return error
  const { code, message } = describeFailure(error)
  if (isConnectionFailure(error)) return unavailable('the database does not answer')
  if (TIMEOUT_CODES.has(code)) return unavailable('the database was blocked by other work for too long')
  if (isConflict(error)) return unavailable('the database was changed by another transaction at the same time')
  if (code === DISK_FULL)
    return new KsError('storage-full', 'the disk of the database is full', { retryAfter: RETRY_SECONDS })
  // errors of a program may have a code, too
  return SQLSTATE.test(code) ? new StatementRefused({ code, message }) : error
}

/** There is no server to connect to now; a later attempt may succeed, whatever the reason was. */
export class NotConnected extends KsError {
  constructor() {
    super('unavailable', 'the database does not answer', { retryAfter: RETRY_SECONDS })
    this.name = 'NotConnected'
  }
}

/** Converts an error while a connection was requested. */
export function toConnectError(error: unknown): KsError {
  return describeFailure(error).message === POOL_TIMEOUT_MESSAGE
    ? unavailable('all connections to the database are busy')
    : new NotConnected()
}

function unavailable(message: string): KsError {
  return new KsError('unavailable', message, { retryAfter: RETRY_SECONDS })
}

function describeFailure(error: unknown): PostgresFailure {
  if (!(error instanceof Error)) return { code: '', message: '' }
  return { code: 'code' in error && typeof error.code === 'string' ? error.code : '', message: error.message }
}
