import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import Sqlite from 'better-sqlite3'
import { KsError } from '../../contract/errors.js'
import { diskError } from '../../local/disk-error.js'
import type { Change, Query } from '../base/statements.js'
import { Checkpointer } from './checkpointer.js'
import { askDisk } from './disk-probe.js'
import type { DatabaseCounts, Driver, Snapshot } from './driver.js'
import type { Damage } from './formats.js'
import { migrate } from './migrate.js'
import { PageCheck } from './page-check.js'
import { checkpoint, setPragmas } from './pragmas.js'
import { type Asked, isProgram, type Read, type Write } from './program.js'
import { DatabaseDamaged, damageMet, isIoError } from './sql-errors.js'
import { SqliteSnapshot } from './sqlite-snapshot.js'
import { type Prepared, queried, runNow, Statements } from './statements.js'
import { storable } from './storable.js'
import { Writer } from './writer.js'

const PAGE_SIZE = 8192 // 1 KiB texts and 400-byte vectors waste less air than in 4 KiB pages

/**
 * The one connection to the source of truth. Statements are prepared once. Writes go through `write`, which
 * commits everything that is asked at the same time in one transaction: callers pay one fsync together.
 */
export class Database implements Driver {
  readonly #sqlite: Sqlite.Database
  readonly #statements: Statements
  readonly #checkpointer: Checkpointer
  readonly #pages: PageCheck
  readonly #writer: Writer
  readonly #snapshots = new Set<Snapshot>()
  readonly #counts = { commits: 0, writes: 0, get: 0, all: 0, run: 0 }
  #damaged: DatabaseDamaged | undefined
  /** Is told once when the file itself turns out to be damaged. */
  onDamagedFile: (damage: DatabaseDamaged) => void = () => undefined

  /**
   * @param refused is told every failure that came from the disk
   * @param accept looks at what is there before anything is changed, and throws where it must not be opened
   */
  constructor(path: string, refused: (error: unknown) => void = () => {}, accept: (db: Database) => void = () => {}) {
    const fresh = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0
    this.#sqlite = new Sqlite(path)
    this.#statements = new Statements(this.#sqlite)
    // both are chosen before the first table is made, or never
    if (fresh) this.#sqlite.exec(`PRAGMA page_size = ${PAGE_SIZE}; PRAGMA auto_vacuum = INCREMENTAL`)
    this.#checkpointer = new Checkpointer(path)
    this.#pages = new PageCheck(path)
    this.#writer = new Writer(this.#sqlite, path, {
      wrote: () => {
        this.#counts.commits++
        this.#checkpointer.wrote()
      },
      damage: () => this.#damaged,
      failed: (error) => this.#unwritable(error, path, refused),
    })
    setPragmas(this.#sqlite)
    accept(this)
    migrate(this.#sqlite, (work) => this.writeNow(work))
  }

  /** Is told of each damaged cell when it is first read. */
  set onDamage(tell: (damage: Damage) => void) {
    this.#statements.onDamage = tell
  }

  /** Whether nothing is written: the disk reported an error, until a write of our own was durable, or the file is damaged. */
  get broken(): boolean {
    return this.#damaged !== undefined || this.#writer.isBroken
  }

  /** What is wrong with the file, once a statement or a check met it. Then nothing is written until the next start. */
  get damage(): DatabaseDamaged | undefined {
    return this.#damaged
  }

  /** Reads every page of the file, in a thread. @returns what is wrong; it is noted as damage that a statement meets is */
  async checkPages(): Promise<string[]> {
    const problems = await this.#pages.run()
    const [first] = problems
    if (first !== undefined) this.#noteDamage(new DatabaseDamaged(first))
    return problems
  }

  /** A write beside damage would deepen it. */
  #noteDamage(damage: DatabaseDamaged): void {
    if (this.#damaged !== undefined) return
    this.#damaged = damage
    this.onDamagedFile(damage)
  }

  /** Runs a program of reads; all of them see one state of the database. */
  async read<T>(program: Read<T>): Promise<T> {
    return this.now(program)
  }

  /** Takes a snapshot, on a connection of its own: as long as it is open, the log grows. */
  async snapshot(): Promise<Snapshot> {
    const snapshot = this.#reading(
      () =>
        new SqliteSnapshot(
          this.#sqlite.name,
          (work) => this.#reading(work),
          () => this.#snapshots.delete(snapshot),
        ),
    )
    this.#snapshots.add(snapshot)
    return snapshot
  }

  /** Runs a program at once. In a write it is a part of it. */
  now<T>(program: Write<T>): T {
    return runNow(program, (asked) => this.execute(asked))
  }

  /** Runs what a program asks. */
  execute(asked: Asked): unknown {
    const prepared = this.#reading((): Prepared => this.#statements.of(asked.sql))
    if (!('lists' in asked)) return this.#one(prepared, asked)
    const { sql, lists } = asked
    if (asked.verb === 'all') return lists.map((values) => this.#one(prepared, { verb: 'all', sql, values }))
    this.#counts.run += lists.length
    return this.#reading(() => lists.map((values) => prepared.statement.run(storable(values)).changes))
  }

  #one({ statement, toRow, guard }: Prepared, asked: Query | Change): unknown {
    this.#counts[asked.verb]++
    if (asked.verb === 'run') {
      const { changes } = this.#reading(() => statement.run(storable(asked.values)))
      return { changes }
    }
    return queried(asked, { statement, toRow, guard }, (work) => this.#reading(work))
  }

  /**
   * Runs the program that `work` makes in a transaction that is durable when the promise resolves. Several writes share
   * one commit; one that throws is undone alone.
   */
  write<T>(work: () => Write<T> | T): Promise<T> {
    return this.#writer.write(() => this.#runWork(work), false)
  }

  /** The same, at once and alone: for start-up and for callers that cannot wait. */
  writeNow<T>(work: () => Write<T> | T): T {
    return this.#writer.writeNow(() => this.#runWork(work))
  }

  /**
   * `write` for what only tells of something, as a trace does: its sync is made in a thread and holds nobody up. Until then
   * others see it already, so an answer to somebody outside waits for `durable`. Where that sync fails the promise rejects,
   * as always, but what was written may stand all the same.
   */
  record<T>(work: () => Write<T> | T): Promise<T> {
    return this.#writer.write(() => this.#runWork(work), true)
  }

  /** Resolves when all that can be seen now is durable, or could not be made so. */
  durable(): Promise<void> {
    return this.#writer.durable()
  }

  /** What was done since it was opened, and the writes that wait for a commit. */
  counts(): DatabaseCounts {
    return { ...this.#counts, waitingWrites: this.#writer.waiting }
  }

  #runWork<T>(work: () => Write<T> | T): T {
    this.#counts.writes++
    const made = work()
    return isProgram(made) ? this.now(made) : made
  }

  /**
   * Runs what recovers the rows at the start. Where the disk has no room for it, it runs before the next write, in the
   * same transaction: nobody writes to rows that were not recovered.
   */
  recover(work: () => Write<unknown>): void {
    try {
      this.writeNow(work)
    } catch (error) {
      if (!(error instanceof KsError) || error.code !== 'storage-full') throw error
      this.#writer.owe(() => this.#runWork(work))
    }
  }

  /** Who is told when something reads for so long that the log, of so many bytes, cannot be emptied. */
  set onHeldLog(tell: (bytes: number) => void) {
    this.#checkpointer.onHeldLog = tell
  }

  /** Moves the log into the database file, as far as nobody reads it. @returns whether all of it was moved */
  checkpoint(): boolean {
    return checkpoint(this.#sqlite, 'PASSIVE')
  }

  /** Takes free pages out of the file, inside a write; the disk has them after the next checkpoint. */
  giveBack(pages: number): void {
    this.#sqlite.exec(`PRAGMA incremental_vacuum(${pages})`) // `run` would take one step, which is one page
  }

  /** @param last runs when nobody else of this process uses the log any more, right before it is given up */
  async close(last: () => void = () => {}): Promise<void> {
    for (const snapshot of [...this.#snapshots]) snapshot.close()
    await this.#writer.close(this.#checkpointer.close())
    last()
    this.#statements.clear()
    this.#sqlite.close()
    this.#writer.closed()
  }

  #reading<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw this.#met(error) ?? error
    }
  }

  /** The failure for damage that a statement met, which is noted. */
  #met(error: unknown): KsError | undefined {
    const met = damageMet(error)
    if (met instanceof DatabaseDamaged) this.#noteDamage(met)
    return met
  }

  /** What a failed write is told. */
  #unwritable(error: unknown, path: string, refused: (error: unknown) => void): unknown {
    const damage = this.#met(error)
    if (damage !== undefined) return damage
    const failure = diskError(isIoError(error) ? (askDisk(dirname(path), PAGE_SIZE) ?? error) : error)
    if (failure === undefined) return error
    refused(failure)
    return failure
  }
}
