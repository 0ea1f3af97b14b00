import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PoolClient } from 'pg'
import { KsError } from '../../../contract/errors.js'
import type { DatabaseStatement, SqlProgram } from '../../base/statements.js'
import { asDeployment } from '../../base/tenant-scope.js'
import { createPostgresDialect } from '../dialect.js'
import type { DatabaseCounts, Driver, Snapshot, WriteOptions } from '../driver.js'
import { answerClock, isProgram, type Read, sql, type Write } from '../program.js'
import { Connections, type PostgresOptions } from './connections.js'
import {
  CommitUnknown,
  isConnectionFailure,
  isConnectionUnusable,
  maxRunsAfter,
  NotConnected,
  toCallerError,
  toConnectError,
  toOpenError,
} from './errors.js'
import { toLockStatements } from './locks.js'
import { checkServer } from './migrate.js'
import { PreparedStatements } from './prepared.js'
import { Session } from './session.js'

export interface StatementCounts {
  /** statements of programs, and locks, by the number of awaited replies; without begin and end of transactions */
  statements: number
  /** programs that ran again after a conflict */
  again: number
}

const MIN_BACKOFF_MS = 4
const MAX_BACKOFF_MS = 200
/** How long a write, and a read, wait for a lost server: another one takes over, or the same starts again. */
const WRITE_RETRY_MS = 15_000
const READ_RETRY_MS = 2000
/** age after which settings of the server are queried again */
const SETTINGS_MAX_AGE_MS = 10_000

/** for a snapshot, whose reader may wait for a client */
const SET_LONG_IDLE_TIMEOUT = "SET LOCAL idle_in_transaction_session_timeout = '10min'"

const BEGIN_READ = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'
const BEGIN_WRITE = 'BEGIN ISOLATION LEVEL REPEATABLE READ'
/** under a lock each statement sees everything committed before the lock was taken */
const BEGIN_LOCKED_WRITE = 'BEGIN ISOLATION LEVEL READ COMMITTED'

export interface PostgresOpenOptions extends PostgresOptions {
  /** time of programs, in milliseconds since the epoch */
  clock: () => number
  /** how long a write waits for a lost server, in milliseconds */
  retryMs?: number
}

type StatementOutcome = { answer: unknown } | { error: unknown }

/** Runs programs on a server, each in its own transaction on a connection of a pool. */
export class Postgres implements Driver {
  readonly #connections: Connections
  readonly #clock: () => number
  readonly #patienceMs: number
  readonly #prepared = new PreparedStatements(createPostgresDialect())
  readonly #statementCounts: StatementCounts = { statements: 0, again: 0 }
  readonly #operation = new AsyncLocalStorage<StatementCounts>()
  readonly #counts = { commits: 0, writes: 0, get: 0, all: 0, run: 0 }
  /** programs that recover rows, in their order, until they are committed */
  readonly #pendingRecovery: (() => Write<unknown>)[] = []
  #recovering: Promise<void> | undefined
  #waitingWrites = 0
  #isAway = false
  #isClosed = false
  #standby: { asked: number; has: boolean } | undefined

  private constructor(connections: Connections, clock: () => number, retryMs: number) {
    this.#connections = connections
    this.#clock = clock
    this.#patienceMs = retryMs
  }

  /** @throws KsError where the server does not respond, is too old, or its database is not one of ours */
  static async open({ clock, retryMs = WRITE_RETRY_MS, ...options }: PostgresOpenOptions): Promise<Postgres> {
    const driver = new Postgres(await Connections.open(options), clock, retryMs)
    // each failure moves on to the next host
    let triesLeft = options.address.hosts.length
    for (;;) {
      try {
        await driver.#withClient((client) => checkServer(client))
        return driver
      } catch (error) {
        if (--triesLeft > 0 && !(error instanceof KsError)) continue
        await driver.close()
        throw toOpenError(error)
      }
    }
  }

  async read<T>(work: Read<T>): Promise<T> {
    if (this.#pendingRecovery.length > 0) await this.#recoverFirst()
    const program = answerClock(work, this.#clock)
    try {
      const first = program.next()
      if (first.done === true) return first.value
      const { session, outcome } = await this.#startRead(first.value)
      try {
        const value = await this.#run(session, program, outcome)
        session.rollback()
        return value
      } catch (error) {
        if (isConnectionUnusable(error)) session.discard()
        else session.rollback()
        throw error
      }
    } catch (error) {
      throw this.#toCallerError(error)
    }
  }

  /** Runs the first statement of a read. It may run again, since the program only continues with its result. */
  async #startRead(first: DatabaseStatement): Promise<{ session: Session; outcome: StatementOutcome }> {
    const deadline = performance.now() + Math.min(READ_RETRY_MS, this.#patienceMs)
    for (let run = 1; ; run++) {
      try {
        const session = await this.#openSession()
        session.begin(BEGIN_READ)
        const outcome = await this.#execute(session, first)
        if ('error' in outcome && isConnectionUnusable(outcome.error)) {
          session.discard()
          throw outcome.error
        }
        this.#isAway = false
        return { session, outcome }
      } catch (error) {
        await this.#waitForRetry(error, run, deadline)
      }
    }
  }

  async snapshot(): Promise<Snapshot> {
    if (this.#pendingRecovery.length > 0) await this.#recoverFirst()
    const session = await this.#openSession()
    session.begin(BEGIN_READ)
    session.sendAhead(SET_LONG_IDLE_TIMEOUT)
    let isOpen = true
    return {
      read: async (work) => {
        if (!isOpen) throw new KsError('unavailable', 'the snapshot of the database is closed')
        const program = answerClock(work, this.#clock)
        try {
          const first = program.next()
          if (first.done === true) return first.value
          return await this.#run(session, program, await this.#execute(session, first.value))
        } catch (error) {
          throw this.#toCallerError(error)
        }
      },
      close: () => {
        if (isOpen) session.rollback()
        isOpen = false
      },
    }
  }

  async write<T>(work: () => Write<T> | T, options: WriteOptions = {}): Promise<T> {
    if (this.#pendingRecovery.length > 0) await this.#recoverFirst()
    return await this.#write(work, options, this.#patienceMs)
  }

  async #write<T>(work: () => Write<T> | T, options: WriteOptions, retryMs: number): Promise<T> {
    this.#counts.writes++
    const deadline = performance.now() + retryMs
    for (let run = 1; ; run++) {
      try {
        const program = work()
        return isProgram(program) ? await this.#transaction(answerClock(program, this.#clock), options) : program
      } catch (error) {
        await this.#waitForRetry(error, run, deadline).catch((finalError: unknown) => {
          throw this.#toCallerError(finalError)
        })
      }
    }
  }

  /** Waits until a program may run again. @throws the error where it may not, or no longer */
  async #waitForRetry(error: unknown, run: number, deadline: number): Promise<void> {
    // the caller, which knows the changes of the program, checks whether it has committed
    if (error instanceof CommitUnknown || this.#isClosed) throw error
    const mayBeBack = (isConnectionFailure(error) || error instanceof NotConnected) && performance.now() < deadline
    if (mayBeBack) this.#isAway = true
    if (!mayBeBack && run >= maxRunsAfter(error)) throw error
    this.#count('again')
    await sleep(Math.random() * Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** run))
  }

  /** On a server nothing is visible before it is durable, so a record is a normal write. */
  record<T>(work: () => Write<T> | T, options?: WriteOptions): Promise<T> {
    return this.write(work, options)
  }

  /** Resolves at once: everything visible is durable. */
  async durable(): Promise<void> {}

  /** If the server does not respond now, the next program runs the recovery first. */
  recover(work: () => Write<unknown>): void {
    this.#pendingRecovery.push(work)
    this.#recoverFirst().catch(() => undefined)
  }

  #recoverFirst(): Promise<void> {
    this.#recovering ??= this.#runRecovery().finally(() => {
      this.#recovering = undefined
    })
    return this.#recovering
  }

  async #runRecovery(): Promise<void> {
    for (let work = this.#pendingRecovery[0]; work !== undefined; work = this.#pendingRecovery[0]) {
      // the recovery belongs to the deployment, whichever tenant triggers it
      await asDeployment(() => this.#write(work, {}, 0))
      this.#pendingRecovery.shift()
    }
  }

  /** Whether the last program found no server. */
  get broken(): boolean {
    return this.#isAway
  }

  /** A server checks its own pages. */
  get damage(): undefined {
    return undefined
  }

  counts(): DatabaseCounts {
    return { ...this.#counts, waitingWrites: this.#waitingWrites }
  }

  get statementCounts(): Readonly<StatementCounts> {
    return this.#statementCounts
  }

  /** Counts the statements of an operation, over all its programs. */
  async counting<T>(operation: () => Promise<T>): Promise<{ value: T } & StatementCounts> {
    const done: StatementCounts = { statements: 0, again: 0 }
    return { value: await this.#operation.run(done, operation), ...done }
  }

  async hasStandby(): Promise<boolean> {
    const { asked: request, has } = this.#standby ?? { asked: -SETTINGS_MAX_AGE_MS, has: false }
    if (performance.now() - request < SETTINGS_MAX_AGE_MS) return has
    const row = await this.read(sql.get<{ names: string }>("SELECT current_setting('synchronous_standby_names') names"))
    this.#standby = { asked: performance.now(), has: row?.names !== undefined && row.names !== '' }
    return this.#standby.has
  }

  async close(last: () => void = () => {}): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#connections.end()
    last()
  }

  async #transaction<T>(program: SqlProgram<T>, { isUrgent = false, ...locked }: WriteOptions): Promise<T> {
    const first = program.next()
    if (first.done === true) return first.value
    const locks = toLockStatements(locked)
    this.#waitingWrites++
    const session = await this.#openSession(isUrgent).finally(() => {
      this.#waitingWrites--
    })
    let value: T
    try {
      session.begin(locks.length === 0 ? BEGIN_WRITE : BEGIN_LOCKED_WRITE)
      for (const { text, values } of locks) {
        this.#count('statements')
        session.sendAhead(text, values)
      }
      value = await this.#run(session, program, await this.#execute(session, first.value))
    } catch (error) {
      if (isConnectionUnusable(error)) session.discard()
      else session.rollback()
      throw error
    }
    await commit(session)
    this.#counts.commits++
    this.#isAway = false
    return value
  }

  async #execute(session: Session, request: DatabaseStatement): Promise<StatementOutcome> {
    this.#counts[request.verb] += 'lists' in request ? request.lists.length : 1
    try {
      return { answer: await session.run(request) }
    } catch (error) {
      return { error }
    }
  }

  /** Runs a program to its end. @param outcome of its first statement */
  async #run<T>(session: Session, program: SqlProgram<T>, outcome: StatementOutcome): Promise<T> {
    let step = 'error' in outcome ? program.throw(outcome.error) : program.next(outcome.answer)
    while (step.done !== true) {
      const next = await this.#execute(session, step.value)
      step = 'error' in next ? program.throw(next.error) : program.next(next.answer)
    }
    return step.value
  }

  /** Converts an error for the caller, and notes an unavailable server. */
  #toCallerError(error: unknown): unknown {
    if (error instanceof CommitUnknown || error instanceof NotConnected || isConnectionFailure(error))
      this.#isAway = true
    return toCallerError(error)
  }

  async #openSession(isUrgent = false): Promise<Session> {
    try {
      return new Session(await this.#connections.take(isUrgent), this.#prepared, () => this.#count('statements'))
    } catch (error) {
      throw toConnectError(error)
    }
  }

  async #withClient<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#connections.take(false)
    try {
      return await work(client)
    } finally {
      client.release()
    }
  }

  #count(what: keyof StatementCounts): void {
    this.#statementCounts[what] += 1
    const operation = this.#operation.getStore()
    if (operation !== undefined) operation[what] += 1
  }
}

async function commit(session: Session): Promise<void> {
  let isCommitted: boolean
  try {
    isCommitted = await session.commit()
  } catch (error) {
    session.discard()
    throw isConnectionFailure(error) ? new CommitUnknown() : error
  }
  session.release()
  if (!isCommitted) throw new KsError('internal', 'a program continued after one of its statements had failed')
}
