import type Sqlite from 'better-sqlite3'
import { Gathering } from './gathering.js'
import { LogSync } from './log-sync.js'
import { SCHEMA } from './migrations.js'
import { framesOfLog, syncAtCommit } from './pragmas.js'
import { isIoError } from './sql-errors.js'

interface Waiting {
  run: () => unknown
  /** it may stand though it was told to have failed, so that its sync need not be a part of the commit */
  mayStand: boolean
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

interface Done {
  waiting: Waiting
  value: unknown
}

/** What the writer knows of the connection that it writes to. */
interface Connection {
  /** Is told of each commit. */
  wrote(): void
  /** what is wrong with the file, for which nothing is written any more */
  damage(): unknown
  /** What whoever waits for a write is told of its failure. */
  failed(error: unknown): unknown
}

/** how long nothing is written after the disk reported an error, and then again where it still does */
const HEAL_MILLISECONDS = 1000
/** one group commit holds the event loop at most about this long before it lets others in */
const GROUP_MILLISECONDS = 8

/** The writes of a connection: in groups, each write in a savepoint of its own, and none while the disk reports errors. */
export class Writer {
  readonly #sqlite: Sqlite.Database
  readonly #connection: Connection
  readonly #log: LogSync
  #waiting: Waiting[] = []
  readonly #gathering = new Gathering(
    () => this.#waiting.length,
    () => this.#flush(),
  )
  /** writes of the start that found no room: they come before all others */
  #owed: (() => void)[] = []
  #broken: unknown
  #healing: NodeJS.Timeout | undefined
  #isClosing = false

  constructor(sqlite: Sqlite.Database, path: string, connection: Connection) {
    this.#sqlite = sqlite
    this.#connection = connection
    this.#log = new LogSync(`${path}-wal`)
  }

  /** Whether the disk reported an error, until a write of our own was durable. */
  get isBroken(): boolean {
    return this.#broken !== undefined
  }

  /** Writes that wait for a commit. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** @param mayStand as `Database.record` has it */
  write<T>(run: () => T, mayStand: boolean): Promise<T> {
    const refused = this.#refusal()
    if (refused !== undefined) return Promise.reject(refused)
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ run, mayStand, resolve: resolve as (value: never) => void, reject })
      this.#gathering.ask()
    })
  }

  writeNow<T>(run: () => T): T {
    const refused = this.#refusal()
    if (refused !== undefined) throw refused
    const withOwed = () => {
      for (const owed of this.#owed) owed()
      return run()
    }
    try {
      const result = this.#sqlite.transaction(withOwed).immediate()
      this.#owed = []
      this.#connection.wrote()
      return result
    } catch (error) {
      this.#noteBroken(error)
      throw this.#connection.failed(error)
    }
  }

  /** Runs before the next write, in its transaction. */
  owe(work: () => void): void {
    this.#owed.push(work)
  }

  /** Resolves when all that was committed until now is durable, or its sync has failed. */
  durable(): Promise<void> {
    return this.#log.settled()
  }

  /** Writes what waits. @param others who use the log, until they have let go of it */
  async close(others: Promise<void>): Promise<void> {
    clearTimeout(this.#healing)
    this.#isClosing = true
    this.#flush()
    await Promise.all([others, this.#log.settled()])
    this.#flush()
  }

  /** After the connection was closed. */
  closed(): void {
    this.#log.close()
  }

  #flush(): void {
    const batch = this.#waiting
    if (batch.length === 0) return
    this.#waiting = []
    if (this.#log.isUnsure) {
      // behind what may be missing in the log nothing would be found again
      this.#fail(this.#broken, batch)
      return
    }
    const isRecord = !this.#isClosing && this.#owed.length === 0 && batch.every(({ mayStand }) => mayStand)
    let done: Done[]
    try {
      if (isRecord) syncAtCommit(this.#sqlite, false)
      done = this.#commit(batch)
    } catch (error) {
      this.#fail(error, batch)
      return
    } finally {
      if (isRecord) syncAtCommit(this.#sqlite, true)
    }
    if (isRecord) this.#sync(done)
    else resolveAll(done)
    if (this.#waiting.length > 0) this.#gathering.goOn()
  }

  /** Commits what there is time for, and leaves the others waiting. */
  #commit(batch: readonly Waiting[]): Done[] {
    const done: Done[] = []
    const started = performance.now()
    let index = 0
    try {
      this.#sqlite.exec('BEGIN IMMEDIATE')
      for (const owed of this.#owed) owed()
      for (; index < batch.length; index++) {
        const waiting = batch[index]
        if (waiting === undefined) break
        if (index > 0 && performance.now() - started > GROUP_MILLISECONDS) break
        const outcome = this.#runOne(waiting)
        const damage = this.#connection.damage()
        if (damage !== undefined) throw damage
        if (outcome !== undefined) done.push({ waiting, value: outcome.value })
      }
      this.#sqlite.exec('COMMIT')
    } catch (error) {
      if (this.#sqlite.inTransaction) this.#sqlite.exec('ROLLBACK')
      throw error
    }
    this.#owed = []
    this.#connection.wrote()
    this.#waiting = [...batch.slice(index), ...this.#waiting]
    return done
  }

  /** Runs one write in a savepoint; a write that throws is told so and leaves nothing. */
  #runOne(waiting: Waiting): { value: unknown } | undefined {
    this.#sqlite.exec('SAVEPOINT one')
    try {
      const value = waiting.run()
      this.#sqlite.exec('RELEASE one')
      return { value }
    } catch (error) {
      if (!this.#sqlite.inTransaction) throw error
      this.#sqlite.exec('ROLLBACK TO one')
      this.#sqlite.exec('RELEASE one')
      waiting.reject(this.#connection.failed(error))
      return undefined
    }
  }

  /** Tells those whose commit was not synced when it is. */
  #sync(done: readonly Done[]): void {
    this.#log.sync().then(
      () => resolveAll(done),
      (error: unknown) => {
        this.#break(error)
        for (const { waiting } of done) waiting.reject(this.#connection.failed(error))
      },
    )
  }

  #fail(error: unknown, batch: readonly Waiting[]): void {
    this.#noteBroken(error)
    for (const waiting of batch) waiting.reject(this.#connection.failed(error))
  }

  /**
   * After an I/O error the end of the log may hold a commit that was told to have failed, and a crash would bring it
   * back. The next commit is written over it: once that was synced, the failed one is gone for good. Until then nobody
   * else writes.
   */
  #noteBroken(error: unknown): void {
    if (isIoError(error)) this.#break(error)
  }

  #break(error: unknown): void {
    this.#broken = error
    this.#healing ??= setTimeout(() => this.#heal(), HEAL_MILLISECONDS).unref()
  }

  #heal(): void {
    this.#healing = undefined
    try {
      const frames = framesOfLog(this.#sqlite)
      this.#sqlite
        .transaction(() => {
          // of records, which nothing is written over
          if (this.#log.isUnsure) this.#log.repair(frames)
          // writes the first page as it is
          this.#sqlite.pragma(`user_version = ${SCHEMA}`)
        })
        .immediate()
      this.#broken = undefined
    } catch {
      this.#healing = setTimeout(() => this.#heal(), HEAL_MILLISECONDS).unref()
    }
  }

  #refusal(): unknown {
    return this.#connection.damage() ?? (this.isBroken ? this.#connection.failed(this.#broken) : undefined)
  }
}

function resolveAll(done: readonly Done[]): void {
  // each has the type of its own work
  for (const { waiting, value } of done) waiting.resolve(value as never)
}
