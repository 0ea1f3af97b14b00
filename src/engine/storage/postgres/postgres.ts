import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PoolClient } from 'pg'
import { KsError } from '../../../contract/errors.js'
import { asDeployment } from '../../base/tenant-scope.js'
import { postgresDialect } from '../dialect.js'
import type { DatabaseCounts, Driver, Snapshot, WriteOptions } from '../driver.js'
import { type Asked, isProgram, type Read, sql, type Write } from '../program.js'
import { Connections, type PostgresOptions } from './connections.js'
import { CommitUnknown, isAway, isSpent, maxRunsAfter, NotConnected, notConnected, notOpened, told } from './errors.js'
import { checkServer } from './migrate.js'
import { Prepared } from './prepared.js'
import { Session } from './session.js'

/** Counts of a driver. */
export interface Statements {
  /** statements of programs, and locks, by the number of awaited replies; without begin and end of transactions */
  statements: number
  /** programs that ran again after a conflict */
  again: number
}

const FIRST_PAUSE_MS = 4
const LONGEST_PAUSE_MS = 200
/** How long a write, and a read, wait for a lost server: another one takes over, or the same starts again. */
const WRITE_PATIENCE_MS = 15_000
const READ_PATIENCE_MS = 2000
/** age after which settings of the server are queried again */
const SETTINGS_MS = 10_000

/** for a snapshot, whose reader may wait for a client */
const HELD_LONG = "SET LOCAL idle_in_transaction_session_timeout = '10min'"

const READ = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'
const WRITE = 'BEGIN ISOLATION LEVEL REPEATABLE READ'
/** under a lock each statement sees everything committed before the lock was taken */
const WRITE_LOCKED = 'BEGIN ISOLATION LEVEL READ COMMITTED'
const LOCK = 'SELECT 1 FROM spaces WHERE key = $1 FOR NO KEY UPDATE'
const LOCK_NAMED = 'SELECT 1 FROM spaces WHERE tenant = $1 AND id = $2 FOR NO KEY UPDATE'
const LOCK_OF_JOB = LOCK.replace('$1', '(SELECT space_key FROM jobs WHERE tenant = $1 AND id = $2)')
const LOCK_APP = 'SELECT 1 FROM chat_apps WHERE tenant = $1 AND id = $2 FOR NO KEY UPDATE'
const LOCK_NAME = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))'

export interface OpenOptions extends PostgresOptions {
  /** how long a write waits for a lost server, in milliseconds */
  patienceMs?: number
}

/** The result of a statement. */
type Outcome = { answer: unknown } | { error: unknown }

/** Runs programs on a server, each in its own transaction on a connection of a pool. */
export class Postgres implements Driver {
  readonly #connections: Connections
  readonly #patienceMs: number
  readonly #prepared = new Prepared(postgresDialect())
  readonly #done: Statements = { statements: 0, again: 0 }
  readonly #operation = new AsyncLocalStorage<Statements>()
  readonly #counts = { commits: 0, writes: 0, get: 0, all: 0, run: 0 }
  /** programs that recover rows, in their order, until they are committed */
  readonly #owed: (() => Write<unknown>)[] = []
  #recovering: Promise<void> | undefined
  #waitingWrites = 0
  #isAway = false
  #isClosed = false
  #standby: { asked: number; has: boolean } | undefined

  private constructor(connections: Connections, patienceMs: number) {
    this.#connections = connections
    this.#patienceMs = patienceMs
  }

  /** @throws KsError where the server does not respond, is too old, or its database is not one of ours */
  static async open({ patienceMs = WRITE_PATIENCE_MS, ...options }: OpenOptions): Promise<Postgres> {
    const driver = new Postgres(await Connections.make(options), patienceMs)
    // each failure moves on to the next host
    let triesLeft = options.address.hosts.length
    for (;;) {
      try {
        await driver.#with((client) => checkServer(client))
        return driver
      } catch (error) {
        if (--triesLeft > 0 && !(error instanceof KsError)) continue
        await driver.close()
        throw notOpened(error)
      }
    }
  }

  async read<T>(program: Read<T>): Promise<T> {
    if (this.#owed.length > 0) await this.#recoverOwed()
    try {
      const first = program.next()
      if (first.done === true) return first.value
      const { session, outcome } = await this.#begun(first.value)
      try {
        const value = await this.#run(session, program, outcome)
        session.leave()
        return value
      } catch (error) {
        if (isSpent(error)) session.drop()
        else session.leave()
        throw error
      }
    } catch (error) {
      throw this.#failure(error)
    }
  }

  /** Runs the first statement of a read. It may run again, since the program only continues with its result. */
  async #begun(first: Asked): Promise<{ session: Session; outcome: Outcome }> {
    const until = performance.now() + Math.min(READ_PATIENCE_MS, this.#patienceMs)
    for (let run = 1; ; run++) {
      try {
        const session = await this.#session()
        session.begin(READ)
        const outcome = await this.#outcome(session, first)
        if ('error' in outcome && isSpent(outcome.error)) {
          session.drop()
          throw outcome.error
        }
        this.#isAway = false
        return { session, outcome }
      } catch (error) {
        await this.#again(error, run, until)
      }
    }
  }

  async snapshot(): Promise<Snapshot> {
    if (this.#owed.length > 0) await this.#recoverOwed()
    const session = await this.#session()
    session.begin(READ)
    session.ahead(HELD_LONG)
    let isOpen = true
    return {
      read: async (program) => {
        if (!isOpen) throw new KsError('unavailable', 'the snapshot of the database is closed')
        try {
          const first = program.next()
          if (first.done === true) return first.value
          return await this.#run(session, program, await this.#outcome(session, first.value))
        } catch (error) {
          throw this.#failure(error)
        }
      },
      close: () => {
        if (isOpen) session.leave()
        isOpen = false
      },
    }
  }

  async write<T>(work: () => Write<T> | T, options: WriteOptions = {}): Promise<T> {
    if (this.#owed.length > 0) await this.#recoverOwed()
    return await this.#write(work, options, this.#patienceMs)
  }

  async #write<T>(work: () => Write<T> | T, options: WriteOptions, patienceMs: number): Promise<T> {
    this.#counts.writes++
    const until = performance.now() + patienceMs
    for (let run = 1; ; run++) {
      try {
        const made = work()
        return isProgram(made) ? await this.#transaction(made, options) : made
      } catch (error) {
        await this.#again(error, run, until).catch((told: unknown) => {
          throw this.#failure(told)
        })
      }
    }
  }

  /** Waits until a program may run again. @throws the error where it may not, or no longer */
  async #again(error: unknown, run: number, until: number): Promise<void> {
    // the caller, which knows the changes of the program, checks whether it has committed
    if (error instanceof CommitUnknown || this.#isClosed) throw error
    const mayBeBack = (isAway(error) || error instanceof NotConnected) && performance.now() < until
    if (mayBeBack) this.#isAway = true
    if (!mayBeBack && run >= maxRunsAfter(error)) throw error
    this.#count('again')
    await sleep(Math.random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** run))
  }

  /** On a server nothing is visible before it is durable, so a record is a normal write. */
  record<T>(work: () => Write<T> | T, options?: WriteOptions): Promise<T> {
    return this.write(work, options)
  }

  /** Resolves at once: everything visible is durable. */
  async durable(): Promise<void> {}

  /** If the server does not respond now, the next program runs the recovery first. */
  recover(work: () => Write<unknown>): void {
    this.#owed.push(work)
    this.#recoverOwed().catch(() => undefined)
  }

  #recoverOwed(): Promise<void> {
    this.#recovering ??= this.#runOwed().finally(() => {
      this.#recovering = undefined
    })
    return this.#recovering
  }

  async #runOwed(): Promise<void> {
    for (let work = this.#owed[0]; work !== undefined; work = this.#owed[0]) {
      // the recovery belongs to the deployment, whichever tenant triggers it
      await asDeployment(() => this.#write(work, {}, 0))
      this.#owed.shift()
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

  /** Counts since the driver was opened. */
  get done(): Readonly<Statements> {
    return this.#done
  }

  /** Counts the statements of an operation, over all its programs. */
  async counting<T>(operation: () => Promise<T>): Promise<{ value: T } & Statements> {
    const done: Statements = { statements: 0, again: 0 }
    const value = await this.#operation.run(done, operation)
    return { value, ...done }
  }

  async hasStandby(): Promise<boolean> {
    const { asked, has } = this.#standby ?? { asked: -SETTINGS_MS, has: false }
    if (performance.now() - asked < SETTINGS_MS) return has
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

  async #transaction<T>(program: Write<T>, { lock, lockName, isUrgent = false }: WriteOptions): Promise<T> {
    const first = program.next()
    if (first.done === true) return first.value
    this.#waitingWrites++
    const session = await this.#session(isUrgent).finally(() => {
      this.#waitingWrites--
    })
    let value: T
    try {
      session.begin(lock === undefined && lockName === undefined ? WRITE : WRITE_LOCKED)
      if (typeof lock === 'number') this.#lock(session, LOCK, [lock])
      else if (lock !== undefined && 'appId' in lock) this.#lock(session, LOCK_APP, [lock.tenant, lock.appId])
      else if (lock !== undefined && 'jobId' in lock) this.#lock(session, LOCK_OF_JOB, [lock.tenant, lock.jobId])
      else if (lock !== undefined) this.#lock(session, LOCK_NAMED, [lock.tenant, lock.id])
      if (lockName !== undefined) this.#lock(session, LOCK_NAME, [lockName])
      value = await this.#run(session, program, await this.#outcome(session, first.value))
    } catch (error) {
      if (isSpent(error)) session.drop()
      else session.leave()
      throw error
    }
    await commit(session)
    this.#counts.commits++
    this.#isAway = false
    return value
  }

  async #outcome(session: Session, asked: Asked): Promise<Outcome> {
    this.#counts[asked.verb] += 'lists' in asked ? asked.lists.length : 1
    try {
      return { answer: await session.run(asked) }
    } catch (error) {
      return { error }
    }
  }

  #lock(session: Session, text: string, locked: readonly (number | string)[]): void {
    this.#count('statements')
    session.ahead(text, locked)
  }

  /** Runs a program to its end. @param outcome of its first statement */
  async #run<T>(session: Session, program: Write<T>, outcome: Outcome): Promise<T> {
    let step = 'error' in outcome ? program.throw(outcome.error) : program.next(outcome.answer)
    while (step.done !== true) {
      const next = await this.#outcome(session, step.value)
      step = 'error' in next ? program.throw(next.error) : program.next(next.answer)
    }
    return step.value
  }

  /** Converts an error for the caller, and notes an unavailable server. */
  #failure(error: unknown): unknown {
    if (error instanceof CommitUnknown || error instanceof NotConnected || isAway(error)) this.#isAway = true
    return told(error)
  }

  async #session(isUrgent = false): Promise<Session> {
    try {
      return new Session(await this.#connections.take(isUrgent), this.#prepared, () => this.#count('statements'))
    } catch (error) {
      throw notConnected(error)
    }
  }

  async #with<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#connections.take(false)
    try {
      return await work(client)
    } finally {
      client.release()
    }
  }

  #count(what: keyof Statements): void {
    this.#done[what] += 1
    const operation = this.#operation.getStore()
    if (operation !== undefined) operation[what] += 1
  }
}

async function commit(session: Session): Promise<void> {
  let isCommitted: boolean
  try {
    isCommitted = await session.commit()
  } catch (error) {
    session.drop()
    throw isAway(error) ? new CommitUnknown() : error
  }
  session.release()
  if (!isCommitted) throw new KsError('internal', 'a program continued after one of its statements had failed')
}
