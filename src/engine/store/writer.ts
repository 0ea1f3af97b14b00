import type Sqlite from 'better-sqlite3'
import { BatchScheduler } from './batch-scheduler.js'
import { SCHEMA } from './migrations.js'
import { countLogFrames, setSyncAtCommit } from './pragmas.js'
import { isIoError } from './sql-errors.js'
import { WalSync } from './wal-sync.js'

interface PendingWrite {
  run: () => unknown
  /** rows may persist although the write was reported as failed, so that its sync need not be part of the commit */
  asyncDurability: boolean
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

interface CompletedWrite {
  pending: PendingWrite
  value: unknown
}

/** The connection as the writer sees it. */
interface WriterConnection {
  /** Called after each commit. */
  onCommit(): void
  /** damage of the file, which stops all writes */
  getDamage(): unknown
  /** Converts an error for the caller of a failed write. */
  toCallerError(error: unknown): unknown
}

/** delay before writes are tried again after an error of the disk, and between later tries */
const REPAIR_INTERVAL_MILLISECONDS = 1000
/** maximum duration of one group commit, which blocks the event loop */
const MAX_GROUP_MILLISECONDS = 8

/** The writes of a connection: in groups, each write in its own savepoint, and none while the disk reports errors. */
export class Writer {
  readonly #sqlite: Sqlite.Database
  readonly #connection: WriterConnection
  readonly #log: WalSync
  #pending: PendingWrite[] = []
  readonly #scheduler = new BatchScheduler(
    () => this.#pending.length,
    () => this.#flush(),
  )
  /** recovery from the start that found the disk full: it runs before all other writes */
  #deferredWrites: (() => void)[] = []
  #broken: unknown
  #repairTimer: NodeJS.Timeout | undefined
  #isClosing = false

  constructor(sqlite: Sqlite.Database, path: string, connection: WriterConnection) {
    this.#sqlite = sqlite
    this.#connection = connection
    this.#log = new WalSync(`${path}-wal`)
  }

  /** Whether the disk reported an error and no own write has been durable since. */
  get isBroken(): boolean {
    return this.#broken !== undefined
  }

  /** Count of writes that wait for a commit. */
  get pendingCount(): number {
    return this.#pending.length
  }

  /** @param asyncDurability as for `Database.record` */
  write<T>(run: () => T, asyncDurability: boolean): Promise<T> {
    const refusal = this.#getRefusal()
    if (refusal !== undefined) return Promise.reject(refusal)
    return new Promise<T>((resolve, reject) => {
      this.#pending.push({ run, asyncDurability, resolve: resolve as (value: never) => void, reject })
      this.#scheduler.schedule()
    })
  }

  writeNow<T>(run: () => T): T {
    const refusal = this.#getRefusal()
    if (refusal !== undefined) throw refusal
    const runWithDeferred = () => {
      for (const deferred of this.#deferredWrites) deferred()
      return run()
    }
    try {
      const result = this.#sqlite.transaction(runWithDeferred).immediate()
      this.#deferredWrites = []
      this.#connection.onCommit()
      return result
    } catch (error) {
      this.#markBrokenByIo(error)
      throw this.#connection.toCallerError(error)
    }
  }

  /** Defers work to the next write, in its transaction. */
  defer(work: () => void): void {
    this.#deferredWrites.push(work)
  }

  /** Resolves when everything committed until now is durable, or its sync has failed. */
  durable(): Promise<void> {
    return this.#log.waitUntilIdle()
  }

  /** Commits the pending writes. @param others resolves when the other users of the log have closed it */
  async close(others: Promise<void>): Promise<void> {
    clearTimeout(this.#repairTimer)
    this.#isClosing = true
    this.#flush()
    await Promise.all([others, this.#log.waitUntilIdle()])
    this.#flush()
  }

  /** To be called after the connection was closed. */
  closeLog(): void {
    this.#log.close()
  }

  #flush(): void {
    const batch = this.#pending
    if (batch.length === 0) return
    this.#pending = []
    if (this.#log.hasFailed) {
      // frames after a gap in the log would never be read again
      this.#fail(this.#broken, batch)
      return
    }
    const isAsync =
      !this.#isClosing && this.#deferredWrites.length === 0 && batch.every(({ asyncDurability }) => asyncDurability)
    let done: CompletedWrite[]
    try {
      if (isAsync) setSyncAtCommit(this.#sqlite, false)
      done = this.#commit(batch)
    } catch (error) {
      this.#fail(error, batch)
      return
    } finally {
      if (isAsync) setSyncAtCommit(this.#sqlite, true)
    }
    if (isAsync) this.#sync(done)
    else resolveAll(done)
    if (this.#pending.length > 0) this.#scheduler.scheduleNextTurn()
  }

  /** Commits as many writes as time allows, and leaves the others pending. */
  #commit(batch: readonly PendingWrite[]): CompletedWrite[] {
    const done: CompletedWrite[] = []
    const started = performance.now()
    let index = 0
    try {
      this.#sqlite.exec('BEGIN IMMEDIATE')
      for (const deferred of this.#deferredWrites) deferred()
      for (; index < batch.length; index++) {
        const pending = batch[index]
        if (pending === undefined) break
        if (index > 0 && performance.now() - started > MAX_GROUP_MILLISECONDS) break
        const outcome = this.#runInSavepoint(pending)
        const damage = this.#connection.getDamage()
        if (damage !== undefined) throw damage
        if (outcome !== undefined) done.push({ pending, value: outcome.value })
      }
      this.#sqlite.exec('COMMIT')
    } catch (error) {
      if (this.#sqlite.inTransaction) this.#sqlite.exec('ROLLBACK')
      throw error
    }
    this.#deferredWrites = []
    this.#connection.onCommit()
    this.#pending = [...batch.slice(index), ...this.#pending]
    return done
  }

  /** Runs one write in a savepoint; a write that throws is rejected and rolled back. */
  #runInSavepoint(pending: PendingWrite): { value: unknown } | undefined {
    this.#sqlite.exec('SAVEPOINT one')
    try {
      const value = pending.run()
      this.#sqlite.exec('RELEASE one')
      return { value }
    } catch (error) {
      if (!this.#sqlite.inTransaction) throw error
      this.#sqlite.exec('ROLLBACK TO one')
      this.#sqlite.exec('RELEASE one')
      pending.reject(this.#connection.toCallerError(error))
      return undefined
    }
  }

  /** Resolves or rejects writes whose commit was not synced, after the sync. */
  #sync(done: readonly CompletedWrite[]): void {
    this.#log.sync().then(
      () => resolveAll(done),
      (error: unknown) => {
        this.#markBroken(error)
        for (const { pending } of done) pending.reject(this.#connection.toCallerError(error))
      },
    )
  }

  #fail(error: unknown, batch: readonly PendingWrite[]): void {
    this.#markBrokenByIo(error)
    for (const pending of batch) pending.reject(this.#connection.toCallerError(error))
  }

  /**
   * After an I/O error the end of the log may contain a commit that was reported as failed, and a crash would bring it
   * back. The next commit overwrites it: once that is synced, the failed one is gone for good. Until then no other
   * write runs.
   */
  #markBrokenByIo(error: unknown): void {
    if (isIoError(error)) this.#markBroken(error)
  }

  #markBroken(error: unknown): void {
    this.#broken = error
    this.#repairTimer ??= setTimeout(() => this.#repair(), REPAIR_INTERVAL_MILLISECONDS).unref()
  }

  #repair(): void {
    this.#repairTimer = undefined
    try {
      const frames = countLogFrames(this.#sqlite)
      this.#sqlite
        .transaction(() => {
          // unsynced records, which nothing overwrites
          if (this.#log.hasFailed) this.#log.repair(frames)
          // rewrites the first page unchanged
          this.#sqlite.pragma(`user_version = ${SCHEMA}`)
        })
        .immediate()
      this.#broken = undefined
    } catch {
      this.#repairTimer = setTimeout(() => this.#repair(), REPAIR_INTERVAL_MILLISECONDS).unref()
    }
  }

  #getRefusal(): unknown {
    return this.#connection.getDamage() ?? (this.isBroken ? this.#connection.toCallerError(this.#broken) : undefined)
  }
}

function resolveAll(done: readonly CompletedWrite[]): void {
  // each has the type of its own work
  for (const { pending, value } of done) pending.resolve(value as never)
}
