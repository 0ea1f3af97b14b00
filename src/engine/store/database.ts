import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import Sqlite from 'better-sqlite3'
import { KsError } from '../../contract/errors.js'
import { toDiskError } from '../../local/disk-error.js'
import type { ReadStatement, WriteStatement } from '../base/statements.js'
import { Checkpointer } from './checkpointer.js'
import { probeDisk } from './disk-probe.js'
import type { DatabaseCounts, Driver, Snapshot } from './driver.js'
import type { Damage } from './formats.js'
import { migrate } from './migrate.js'
import { PageCheck } from './page-check.js'
import { checkpoint, setPragmas } from './pragmas.js'
import { answerClock, type DatabaseStatement, isProgram, type Read, type Write } from './program.js'
import { DatabaseDamaged, isIoError, toDamageError } from './sql-errors.js'
import { SqliteSnapshot } from './sqlite-snapshot.js'
import { queryRows, runProgramSync, type SqliteStatement, SqliteStatements } from './statements.js'
import { toStorable } from './storable.js'
import { Writer } from './writer.js'

const PAGE_SIZE = 8192 // 1 KiB texts and 400-byte vectors waste less space than in 4 KiB pages

/**
 * The only writing connection to the database file. Prepares each statement once. `write` groups all concurrent writes
 * into one transaction, so that callers share one fsync.
 */
export class Database implements Driver {
  readonly #sqlite: Sqlite.Database
  readonly #clock: () => number
  readonly #statements: SqliteStatements
  readonly #checkpointer: Checkpointer
  readonly #pages: PageCheck
  readonly #writer: Writer
  readonly #snapshots = new Set<Snapshot>()
  readonly #counts = { commits: 0, writes: 0, get: 0, all: 0, run: 0 }
  #damaged: DatabaseDamaged | undefined
  /** Called once when the file itself turns out to be damaged. */
  onDamagedFile: (damage: DatabaseDamaged) => void = () => undefined

  /**
   * @param clock time of programs, in milliseconds since the epoch
   * @param onDiskFailure called with every failure that came from the disk
   * @param accept inspects the database before anything is changed, and throws where it must not be opened
   */
  constructor(
    path: string,
    clock: () => number,
    onDiskFailure: (error: unknown) => void = () => {},
    accept: (db: Database) => void = () => {},
  ) {
    const fresh = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0
    this.#sqlite = new Sqlite(path)
    this.#clock = clock
    this.#statements = new SqliteStatements(this.#sqlite)
    // both must be set before the first table is created
    if (fresh) this.#sqlite.exec(`PRAGMA page_size = ${PAGE_SIZE}; PRAGMA auto_vacuum = INCREMENTAL`)
    this.#checkpointer = new Checkpointer(path)
    this.#pages = new PageCheck(path)
    this.#writer = new Writer(this.#sqlite, path, {
      onCommit: () => {
        this.#counts.commits++
        this.#checkpointer.scheduleAfterWrite()
      },
      getDamage: () => this.#damaged,
      toCallerError: (error) => this.#toWriteError(error, path, onDiskFailure),
    })
    setPragmas(this.#sqlite)
    accept(this)
    migrate(this.#sqlite, (work) => this.writeNow(work))
  }

  /** Called for each damaged cell when it is first read. */
  set onDamage(onEvent: (damage: Damage) => void) {
    this.#statements.onDamage = onEvent
  }

  /**
   * Whether writes are refused: the disk reported an error and no own write has been durable since, or the file is
   * damaged.
   */
  get broken(): boolean {
    return this.#damaged !== undefined || this.#writer.isBroken
  }

  /** Damage of the file that a statement or a check found. It stops all writes until the next start. */
  get damage(): DatabaseDamaged | undefined {
    return this.#damaged
  }

  /**
   * Reads every page of the file, in a thread. @returns the problems, which stop writes like
   * damage that a statement finds
   */
  async checkPages(): Promise<string[]> {
    const problems = await this.#pages.run()
    const [first] = problems
    if (first !== undefined) this.#recordDamage(new DatabaseDamaged(first))
    return problems
  }

  /** Writes to a damaged file would increase the damage. */
  #recordDamage(damage: DatabaseDamaged): void {
    if (this.#damaged !== undefined) return
    this.#damaged = damage
    this.onDamagedFile(damage)
  }

  /** Runs a program of reads; all of them see one state of the database. */
  async read<T>(program: Read<T>): Promise<T> {
    return this.now(program)
  }

  /** Takes a snapshot on a separate connection. The log grows while it is open. */
  async snapshot(): Promise<Snapshot> {
    const snapshot = this.#detectDamage(
      () =>
        new SqliteSnapshot(
          { path: this.#sqlite.name, clock: this.#clock },
          (work) => this.#detectDamage(work),
          () => this.#snapshots.delete(snapshot),
        ),
    )
    this.#snapshots.add(snapshot)
    return snapshot
  }

  /** Runs a program immediately. Inside a write it belongs to that write. */
  now<T>(program: Write<T>): T {
    return runProgramSync(answerClock(program, this.#clock), (request) => this.execute(request))
  }

  /** Runs one statement of a program. */
  execute(request: DatabaseStatement): unknown {
    const prepared = this.#detectDamage((): SqliteStatement => this.#statements.get(request.sql))
    if (!('lists' in request)) return this.#executeOne(prepared, request)
    const { sql, lists } = request
    if (request.verb === 'all') return lists.map((values) => this.#executeOne(prepared, { verb: 'all', sql, values }))
    this.#counts.run += lists.length
    return this.#detectDamage(() => lists.map((values) => prepared.statement.run(toStorable(values)).changes))
  }

  #executeOne({ statement, toRow, guard }: SqliteStatement, request: ReadStatement | WriteStatement): unknown {
    this.#counts[request.verb]++
    if (request.verb === 'run') {
      const { changes } = this.#detectDamage(() => statement.run(toStorable(request.values)))
      return { changes }
    }
    return queryRows(request, { statement, toRow, guard }, (work) => this.#detectDamage(work))
  }

  /**
   * Runs the program that `work` creates in a transaction that is durable when the promise resolves. Concurrent writes
   * share one commit; a write that throws is rolled back alone.
   */
  write<T>(work: () => Write<T> | T): Promise<T> {
    return this.#writer.write(() => this.#runWork(work), false)
  }

  /** `write` without waiting and without sharing a commit: for start-up and for callers that cannot wait. */
  writeNow<T>(work: () => Write<T> | T): T {
    return this.#writer.writeNow(() => this.#runWork(work))
  }

  /**
   * `write` for records such as traces: a thread syncs it, and nothing waits for that. Others see the rows before they
   * are durable, so a reply to a client waits for `durable`. Where the sync fails the promise rejects, but the rows may
   * persist.
   */
  record<T>(work: () => Write<T> | T): Promise<T> {
    return this.#writer.write(() => this.#runWork(work), true)
  }

  /** Resolves when everything visible now is durable, or its sync has failed. */
  durable(): Promise<void> {
    return this.#writer.durable()
  }

  /** Counts since the database was opened, and the writes that wait for a commit. */
  counts(): DatabaseCounts {
    return { ...this.#counts, waitingWrites: this.#writer.pendingCount }
  }

  #runWork<T>(work: () => Write<T> | T): T {
    this.#counts.writes++
    const made = work()
    return isProgram(made) ? this.now(made) : made
  }

  /**
   * Runs the recovery of rows at the start. If the disk is full, it runs in the transaction of the next write: nothing
   * writes to rows before they are recovered.
   */
  recover(work: () => Write<unknown>): void {
    try {
      this.writeNow(work)
    } catch (error) {
      if (!(error instanceof KsError) || error.code !== 'storage-full') throw error
      this.#writer.defer(() => this.#runWork(work))
    }
  }

  /** Called with the size in bytes of a log that a long reader keeps from being emptied. */
  set onBlockedLog(onEvent: (bytes: number) => void) {
    this.#checkpointer.onBlockedLog = onEvent
  }

  /** Moves the log into the database file, except for what readers still need. @returns whether all of it was moved */
  checkpoint(): boolean {
    return checkpoint(this.#sqlite, 'PASSIVE')
  }

  /** Removes free pages from the file, inside a write; the disk regains them after the next checkpoint. */
  vacuumPages(pages: number): void {
    this.#sqlite.exec(`PRAGMA incremental_vacuum(${pages})`) // `run` would execute one step, which frees one page
  }

  /** @param last runs when nothing else in this process uses the log any more, just before it is closed */
  async close(last: () => void = () => {}): Promise<void> {
    for (const snapshot of [...this.#snapshots]) snapshot.close()
    await this.#writer.close(this.#checkpointer.close())
    last()
    this.#statements.clear()
    this.#sqlite.close()
    this.#writer.closeLog()
  }

  #detectDamage<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw this.#toDamageError(error) ?? error
    }
  }

  /** Converts an error of SQLite about damage, and records the damage. Returns nothing for other errors. */
  #toDamageError(error: unknown): KsError | undefined {
    const met = toDamageError(error)
    if (met instanceof DatabaseDamaged) this.#recordDamage(met)
    return met
  }

  /** The error that the caller of a failed write gets. */
  #toWriteError(error: unknown, path: string, onDiskFailure: (error: unknown) => void): unknown {
    const damage = this.#toDamageError(error)
    if (damage !== undefined) return damage
    const failure = toDiskError(isIoError(error) ? (probeDisk(dirname(path), PAGE_SIZE) ?? error) : error)
    if (failure === undefined) return error
    onDiskFailure(failure)
    return failure
  }
}
