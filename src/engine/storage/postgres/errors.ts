import { KsError } from '../../../contract/errors.js'

/** when a caller that met a database that does not answer may come again */
const RETRY_SECONDS = 2

/** What PostgreSQL, or the socket to it, says of a failure. */
interface Said {
  code: string
  message: string
}

/** Another transaction was in the way: the same program may succeed when it runs again. */
const CONFLICTS: ReadonlySet<string> = new Set(['40001', '40P01'])
/**
 * A unique or foreign key is violated by rows that this transaction cannot see: another one has inserted the key, or
 * removed the parent, since this program read. When it runs again it sees that, and answers as without a race.
 */
const OVERTAKEN: ReadonlySet<string> = new Set(['23505', '23503'])
const MAX_RUNS = 10
/** a key that is refused again and again is no race */
const MAX_RUNS_OVERTAKEN = 3
/** connection failures, shutdown and start of the server, too many connections, a standby that became none yet */
const AWAY = /^(08...|57P0[123]|53300|25006|E[A-Z]+)$/
/** `lock_timeout`, and `idle_in_transaction_session_timeout` of a program that was held up */
const TOO_LONG: ReadonlySet<string> = new Set(['55P03', '25P03', '57014'])
/** wrong name or password, no database of that name; these messages hold no more than the names */
const NOT_LET_IN = /^(28...|3D000)$/
const NO_PASSWORD = /password must be a (non-empty )?string/
const DISK_FULL = '53100'
const SQLSTATE = /^[0-9A-Z]{5}$/
/** what `pg` and its pool say without a code */
const ENDED =
  /^(Connection terminated|Client (was closed|has encountered)|Query read timeout|timeout expired|Cannot use a pool)/
const NO_ROOM = 'timeout exceeded when trying to connect'

/** A statement that PostgreSQL refused. Says neither values nor details of rows, so that it may be logged. */
export class StatementRefused extends Error {
  readonly code: string

  constructor({ code, message }: Said) {
    super(`PostgreSQL refused a statement (${code}): ${message}`)
    this.name = 'StatementRefused'
    this.code = code
  }
}

/**
 * The connection was lost while a transaction was being committed: it may have been, or not. Whoever asks again has to look
 * whether the work is done.
 */
export class CommitUnknown extends KsError {
  constructor() {
    super('unavailable', 'the database did not say whether it has committed', { retryAfter: RETRY_SECONDS })
    this.name = 'CommitUnknown'
  }
}

/** Maximum number of runs of a program that fails with an error, the first included; 1 where a retry cannot succeed. */
export function maxRunsAfter(error: unknown): number {
  if (isConflict(error)) return MAX_RUNS
  return OVERTAKEN.has(said(error).code) ? MAX_RUNS_OVERTAKEN : 1
}

function isConflict(error: unknown): boolean {
  return CONFLICTS.has(said(error).code) || isOutdated(error)
}

/** Whether the connection, and not the statement, has failed. */
export function isAway(error: unknown): boolean {
  const { code, message } = said(error)
  return AWAY.test(code) || ENDED.test(message)
}

/** What who opens a database is told: also that it lets nobody in, which no later try changes. */
export function notOpened(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof KsError) return error
  const { code, message } = said(error)
  if (NOT_LET_IN.test(code) || NO_PASSWORD.test(message))
    return new KsError(
      'unavailable',
      NO_PASSWORD.test(message)
        ? 'the database asks for a password, and none was given'
        : `the database lets nobody in: ${message}`,
    )
  return told(error)
}

/** Whether a connection has to be given up: it is none any more, or has statements prepared for an earlier schema. */
export function isSpent(error: unknown): boolean {
  return isAway(error) || isOutdated(error)
}

function isOutdated(error: unknown): boolean {
  const { code, message } = said(error)
  return code === '0A000' && message.startsWith('cached plan')
}

/** What the caller of a program is told: never the error of `pg`, which may hold the address or cells of a row. */
export function told(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof KsError || error instanceof StatementRefused) return error
  const { code, message } = said(error)
  if (isAway(error)) return unavailable('the database does not answer')
  if (TOO_LONG.has(code)) return unavailable('the database was held up by other work for too long')
  if (isConflict(error)) return unavailable('the database was changed by others at the same time')
  if (code === DISK_FULL)
    return new KsError('storage-full', 'the disk of the database is full', { retryAfter: RETRY_SECONDS })
  // what a program itself throws may have a code, too
  return SQLSTATE.test(code) ? new StatementRefused({ code, message }) : error
}

/** No connection was had because there is no server now: for whatever reason it gave none, it may give one later. */
export class NotConnected extends KsError {
  constructor() {
    super('unavailable', 'the database does not answer', { retryAfter: RETRY_SECONDS })
    this.name = 'NotConnected'
  }
}

/** What a program is told that got no connection. */
export function notConnected(error: unknown): KsError {
  return said(error).message === NO_ROOM ? unavailable('all connections to the database are busy') : new NotConnected()
}

function unavailable(message: string): KsError {
  return new KsError('unavailable', message, { retryAfter: RETRY_SECONDS })
}

function said(error: unknown): Said {
  if (!(error instanceof Error)) return { code: '', message: '' }
  return { code: 'code' in error && typeof error.code === 'string' ? error.code : '', message: error.message }
}
