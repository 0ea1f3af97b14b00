import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import Sqlite from 'better-sqlite3'
import { KsError } from '../../contract/errors.js'
import { diskError } from '../../local/disk-error.js'
import { Checkpointer } from './checkpointer.js'
import { askDisk } from './disk-probe.js'
import type { Damage } from './formats.js'
import { Gathering } from './gathering.js'
import { guardOf, type RowGuard } from './guarded-rows.js'
import { migrate } from './migrate.js'
import { PageCheck } from './page-check.js'
import { checkpoint, setPragmas } from './pragmas.js'
import { type Change, isProgram, type Query, type Read, type Write } from './program.js'
import { MIGRATIONS } from './schema.js'
import { DatabaseDamaged, damageMet, isIoError } from './sql-errors.js'

interface Prepared {
  statement: Sqlite.Statement
  /** absent where no column of the result has a form */
  guard: RowGuard | undefined
}

interface Waiting {
  run: () => unknown
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

const PAGE_SIZE = 8192 // 1 KiB texts and 400-byte vectors waste less air than in 4 KiB pages
/** how long nothing is written after the disk reported an error, and then again where it still does */
const HEAL_MILLISECONDS = 1000
/** damaged cells that are told of once each; a file with more of them is told of often enough */
const TOLD_DAMAGES = 1000
/** one group commit holds the event loop at most about this long before it lets others in */
const GROUP_MILLISECONDS = 8

/**
 * The one connection to the source of truth. Statements are prepared once. Writes go through `write`, which
 * commits everything that is asked at the same time in one transaction: callers pay one fsync together.
 */
export class Database {
  readonly #sqlite: Sqlite.Database
  readonly #statements = new Map<string, Prepared>()
  readonly #told = new Set<string>()
  readonly #checkpointer: Checkpointer
  readonly #pages: PageCheck
  #waiting: Waiting[] = []
  readonly #gathering = new Gathering(
    () => this.#waiting.length,
    () => this.#flush(),
  )
  readonly #folder: string
  readonly #refused: (error: unknown) => void
  /** writes of the start that found no room: they come before all others */
  #owed: (() => void)[] = []
  #broken: unknown
  #damaged: DatabaseDamaged | undefined
  #healing: NodeJS.Timeout | undefined
  /** Is told of each damaged cell when it is first read. */
  onDamage: (damage: Damage) => void = () => undefined
  /** Is told once when the file itself turns out to be damaged. */
  onDamagedFile: (damage: DatabaseDamaged) => void = () => undefined

  /**
   * @param refused is told every failure that came from the disk
   * @param accept looks at what is there before anything is changed, and throws where it must not be opened
   */
  constructor(path: string, refused: (error: unknown) => void = () => {}, accept: (db: Database) => void = () => {}) {
    this.#refused = refused
    this.#folder = dirname(path)
    const fresh = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0
    this.#sqlite = new Sqlite(path)
    // both are chosen before the first table is made, or never
    if (fresh) this.#sqlite.exec(`PRAGMA page_size = ${PAGE_SIZE}; PRAGMA auto_vacuum = INCREMENTAL`)
    this.#checkpointer = new Checkpointer(path)
    this.#pages = new PageCheck(path)
    setPragmas(this.#sqlite)
    accept(this)
    migrate(this.#sqlite, (work) => this.writeNow(work))
  }

  /** Whether nothing is written: the disk reported an error, until a write of our own was durable, or the file is damaged. */
  get broken(): boolean {
    return (this.#damaged ?? this.#broken) !== undefined
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

  /** Runs a program at once. In a write it is a part of it. */
  now<T>(program: Write<T>): T {
    for (let step = program.next(); ; ) {
      if (step.done === true) return step.value
      let outcome: unknown
      try {
        outcome = this.execute(step.value)
      } catch (error) {
        step = program.throw(error)
        continue
      }
      step = program.next(outcome)
    }
  }

  /** Runs one statement of a program. */
  execute(asked: Query | Change): unknown {
    const { statement, guard } = this.#reading(() => this.#statement(asked.sql))
    if (asked.verb === 'run') {
      const { changes, lastInsertRowid } = this.#reading(() => statement.run(asked.values))
      return { changes, key: Number(lastInsertRowid) }
    }
    const check = asked.stored === true ? undefined : guard
    if (asked.verb === 'get') {
      const row = this.#reading(() => statement.get(asked.values))
      check?.(row)
      return row
    }
    const rows = this.#reading(() => statement.all(asked.values))
    if (check !== undefined) for (const row of rows) check(row)
    return rows
  }

  /**
   * Runs the program that `work` makes in a transaction that is durable when the promise resolves. Several writes share
   * one commit; one that throws is undone alone.
   */
  write<T>(work: () => Write<T> | T): Promise<T> {
    const refused = this.#refusal()
    if (refused !== undefined) return Promise.reject(refused)
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ run: () => this.#runWork(work), resolve: resolve as (value: never) => void, reject })
      this.#gathering.ask()
    })
  }

  /** The same, at once and alone: for start-up and for callers that cannot wait. */
  writeNow<T>(work: () => Write<T> | T): T {
    const refused = this.#refusal()
    if (refused !== undefined) throw refused
    const withOwed = () => {
      for (const owed of this.#owed) owed()
      return this.#runWork(work)
    }
    try {
      const result = this.#sqlite.transaction(withOwed).immediate()
      this.#owed = []
      this.#checkpointer.wrote()
      return result
    } catch (error) {
      this.#noteBroken(error)
      throw this.#unwritable(error)
    }
  }

  #runWork<T>(work: () => Write<T> | T): T {
    const made = work()
    return isProgram(made) ? this.now(made) : made
  }

  /**
   * Runs what recovers the rows at the start. Where the disk has no room for it, it runs before the next write, in the
   * same transaction: nobody writes to rows that were not recovered.
   */
  recover(work: () => unknown): void {
    try {
      this.writeNow(work)
    } catch (error) {
      if (!(error instanceof KsError) || error.code !== 'storage-full') throw error
      this.#owed.push(() => this.#runWork(work))
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
    clearTimeout(this.#healing)
    this.#flush()
    await this.#checkpointer.close()
    this.#flush()
    last()
    this.#statements.clear()
    this.#sqlite.close()
  }

  #flush(): void {
    const batch = this.#waiting
    if (batch.length === 0) return
    this.#waiting = []
    const done: { waiting: Waiting; value: unknown }[] = []
    const started = performance.now()
    try {
      this.#sqlite.exec('BEGIN IMMEDIATE')
      for (const owed of this.#owed) owed()
      let index = 0
      for (; index < batch.length; index++) {
        const waiting = batch[index]
        if (waiting === undefined) break
        if (index > 0 && performance.now() - started > GROUP_MILLISECONDS) break
        const outcome = this.#runOne(waiting)
        if (this.#damaged !== undefined) throw this.#damaged
        if (outcome !== undefined) done.push({ waiting, value: outcome.value })
      }
      this.#sqlite.exec('COMMIT')
      this.#owed = []
      this.#checkpointer.wrote()
      this.#waiting = [...batch.slice(index), ...this.#waiting]
    } catch (error) {
      this.#fail(error, batch)
      return
    }
    for (const { waiting, value } of done) waiting.resolve(value as never)
    if (this.#waiting.length > 0) this.#gathering.goOn()
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
      waiting.reject(this.#unwritable(error))
      return undefined
    }
  }

  #fail(error: unknown, batch: Waiting[]): void {
    if (this.#sqlite.inTransaction) this.#sqlite.exec('ROLLBACK')
    this.#noteBroken(error)
    for (const waiting of batch) waiting.reject(this.#unwritable(error))
  }

  /**
   * After an I/O error the end of the log may hold a commit that was told to have failed, and a crash would bring it
   * back. The next commit is written over it: once that was synced, the failed one is gone for good. Until then nobody
   * else writes.
   */
  #noteBroken(error: unknown): void {
    if (!isIoError(error)) return
    this.#broken = error
    this.#healing ??= setTimeout(() => this.#heal(), HEAL_MILLISECONDS).unref()
  }

  #heal(): void {
    this.#healing = undefined
    try {
      // writes the first page as it is
      this.#sqlite.transaction(() => this.#sqlite.pragma(`user_version = ${MIGRATIONS.length}`)).immediate()
      this.#broken = undefined
    } catch {
      this.#healing = setTimeout(() => this.#heal(), HEAL_MILLISECONDS).unref()
    }
  }

  #refusal(): unknown {
    return this.#damaged ?? (this.#broken === undefined ? undefined : this.#unwritable(this.#broken))
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

  #unwritable(error: unknown): unknown {
    const damage = this.#met(error)
    if (damage !== undefined) return damage
    const refused = diskError(isIoError(error) ? (askDisk(this.#folder, PAGE_SIZE) ?? error) : error)
    if (refused === undefined) return error
    this.#refused(refused)
    return refused
  }

  #statement(sql: string): Prepared {
    let prepared = this.#statements.get(sql)
    if (prepared === undefined) {
      const statement = this.#sqlite.prepare(sql)
      const guard = statement.reader ? guardOf(statement.columns(), (damage) => this.#tell(damage)) : undefined
      prepared = { statement, guard }
      this.#statements.set(sql, prepared)
    }
    return prepared
  }

  #tell(damage: Damage): void {
    const cell = `${damage.table}.${damage.column} ${damage.row}`
    if (this.#told.has(cell) || this.#told.size >= TOLD_DAMAGES) return
    this.#told.add(cell)
    this.onDamage(damage)
  }
}
