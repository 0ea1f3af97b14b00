import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import { KsError } from '../../../contract/errors.js'
import type { DatabaseAddress } from '../../base/database-address.js'
import { postgresDialect } from '../dialect.js'
import type { DatabaseCounts, Driver, WriteOptions } from '../driver.js'
import { type Change, isProgram, type Query, type Read, type Write } from '../program.js'
import { CommitUnknown, isAway, isBusy, isConflict, isSpent, notConnected, told } from './errors.js'
import { checkServer } from './migrate.js'
import { Prepared } from './prepared.js'
import { Session } from './session.js'
import { AS_SQLITE } from './values.js'

/** What a driver did. */
export interface Statements {
  /** of programs, and locks; not what begins and ends transactions */
  statements: number
  /** programs that ran again after a conflict */
  again: number
}

export interface PostgresOptions {
  address: DatabaseAddress
  /** the gateway, as the server lists it */
  application: string
  connections?: number
  /** how long a statement waits for a row that another transaction holds, in milliseconds */
  lockMs?: number
}

const CONNECTIONS = 10
/** how long a program waits for a connection */
const WAIT_MS = 2000
const LOCK_MS = 15_000
/** how long a statement may take at most: all are made to be short, so a server that does not answer then has stopped */
const ANSWER_MS = 30_000
/** how long the server keeps a transaction whose gateway does not go on with it, and what it holds */
const HELD_MS = 30_000
/** runs of one program, the first among them */
const MOST_RUNS = 10
const FIRST_PAUSE_MS = 4
const LONGEST_PAUSE_MS = 200

const READ = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'
const WRITE = 'BEGIN ISOLATION LEVEL REPEATABLE READ'
/** under a lock each statement sees what others committed before the lock was had */
const WRITE_LOCKED = 'BEGIN ISOLATION LEVEL READ COMMITTED'
const LOCK = 'SELECT 1 FROM spaces WHERE key = $1 FOR NO KEY UPDATE'

/** Runs programs on a server, each in a transaction of its own on a connection of a pool. */
export class Postgres implements Driver {
  readonly #pool: Pool
  readonly #prepared = new Prepared(postgresDialect())
  readonly #done: Statements = { statements: 0, again: 0 }
  readonly #operation = new AsyncLocalStorage<Statements>()
  readonly #counts = { commits: 0, writes: 0, get: 0, all: 0, run: 0 }
  /** what recovers rows, the first of it first, until it is committed */
  readonly #owed: (() => Write<unknown>)[] = []
  #recovering: Promise<void> | undefined
  #waitingWrites = 0
  #isAway = false

  private constructor(pool: Pool) {
    this.#pool = pool
  }

  /** @throws KsError where the server does not answer, is too old, or its database is not one of ours */
  static async open(options: PostgresOptions): Promise<Postgres> {
    const driver = new Postgres(await makePool(options))
    try {
      await driver.#with((client) => checkServer(client))
      return driver
    } catch (error) {
      await driver.close()
      throw told(error)
    }
  }

  async read<T>(program: Read<T>): Promise<T> {
    if (this.#owed.length > 0) await this.#recoverOwed()
    try {
      const session = await this.#session()
      try {
        const value = await this.#run(session, program, () => session.begin(READ))
        session.leave()
        this.#isAway = false
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

  async write<T>(work: () => Write<T> | T, { lock }: WriteOptions = {}): Promise<T> {
    if (this.#owed.length > 0) await this.#recoverOwed()
    return await this.#write(work, lock)
  }

  async #write<T>(work: () => Write<T> | T, lock?: number): Promise<T> {
    this.#counts.writes++
    for (let run = 1; ; run++) {
      try {
        const made = work()
        return isProgram(made) ? await this.#transaction(made, lock) : made
      } catch (error) {
        if (!isConflict(error) || run >= MOST_RUNS) throw this.#failure(error)
        this.#count('again')
        await sleep(Math.random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** run))
      }
    }
  }

  /** On a server nothing is seen by others before it is durable, so a record is a write like any other. */
  record<T>(work: () => Write<T> | T): Promise<T> {
    return this.write(work)
  }

  /** Resolves at once: what can be seen is durable. */
  async durable(): Promise<void> {}

  /** A server that does not answer now is owed to by whoever asks next. */
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
      await this.#write(work)
      this.#owed.shift()
    }
  }

  /** Whether the last program found no server. */
  get broken(): boolean {
    return this.#isAway
  }

  /** The pages of a server are its own to check. */
  get damage(): undefined {
    return undefined
  }

  counts(): DatabaseCounts {
    return { ...this.#counts, waitingWrites: this.#waitingWrites }
  }

  /** All that was done since the driver was opened. */
  get done(): Readonly<Statements> {
    return this.#done
  }

  /** Counts what an operation does, over all its programs. */
  async counting<T>(operation: () => Promise<T>): Promise<{ value: T } & Statements> {
    const done: Statements = { statements: 0, again: 0 }
    const value = await this.#operation.run(done, operation)
    return { value, ...done }
  }

  async close(last: () => void = () => {}): Promise<void> {
    await this.#pool.end()
    last()
  }

  async #transaction<T>(program: Write<T>, lock: number | undefined): Promise<T> {
    this.#waitingWrites++
    const session = await this.#session().finally(() => {
      this.#waitingWrites--
    })
    let value: T
    try {
      value = await this.#run(session, program, () => {
        session.begin(lock === undefined ? WRITE : WRITE_LOCKED)
        if (lock === undefined) return
        this.#count('statements')
        session.ahead(LOCK, [lock])
      })
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

  /** Runs a program to its end. @param begin is called before its first statement */
  async #run<T>(session: Session, program: Write<T>, begin: () => void): Promise<T> {
    let step = program.next()
    if (step.done !== true) begin()
    while (step.done !== true) {
      const asked: Query | Change = step.value
      this.#counts[asked.verb]++
      let outcome: unknown
      try {
        outcome = await session.run(asked)
      } catch (error) {
        step = program.throw(error)
        continue
      }
      step = program.next(outcome)
    }
    return step.value
  }

  /** What a caller is told. */
  #failure(error: unknown): unknown {
    if (error instanceof CommitUnknown || isAway(error)) this.#isAway = true
    return told(error)
  }

  async #session(): Promise<Session> {
    try {
      return new Session(await this.#pool.connect(), this.#prepared, () => this.#count('statements'))
    } catch (error) {
      if (!isBusy(error)) this.#isAway = true
      throw notConnected(error)
    }
  }

  async #with<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect()
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
  if (!isCommitted) throw new KsError('internal', 'a program went on after one of its statements had failed')
}

async function makePool({
  address,
  application,
  connections = CONNECTIONS,
  lockMs = LOCK_MS,
}: PostgresOptions): Promise<Pool> {
  // an embedded daemon never loads it
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({
    connectionString: address.connectionString,
    ...(address.password === undefined ? {} : { password: address.password }),
    application_name: application,
    max: connections,
    connectionTimeoutMillis: WAIT_MS,
    query_timeout: ANSWER_MS,
    lock_timeout: lockMs,
    idle_in_transaction_session_timeout: HELD_MS,
    keepAlive: true,
    pipeline: true,
    types: AS_SQLITE,
  })
  // a connection that breaks is told of by the statement that meets it; one that nobody uses is replaced
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}
