import type { Read, Write } from './program.js'
import type { DatabaseDamaged } from './sql-errors.js'

/** A space: the key of its row, or what requests name it by: its id, or that of one of its jobs. */
export type SpaceName = number | { tenant: string; id: string } | { tenant: string; jobId: string }

export interface WriteOptions {
  /**
   * What is held until the commit, before the program's first statement: the row of a space, for programs that write what
   * all writers of a space do, as publications; or that of a chat application. Each statement then sees what was committed
   * before it. Writers of SQLite follow each other anyway.
   */
  lock?: SpaceName | { tenant: string; appId: string }
  /** For heartbeats alone: on a server, connections are kept for them that no other program takes. */
  isUrgent?: boolean
  /** A name that is held until the commit, before the first statement: for programs that write rows of no space's row. */
  lockName?: string
}

/** What a driver did since it was opened. */
export interface DatabaseCounts {
  commits: number
  /** programs of writes, which may share commits */
  writes: number
  /** statements that look for one row, for several, and that change rows */
  get: number
  all: number
  run: number
  /** writes that wait for a commit, or for a connection, now */
  waitingWrites: number
}

/** One state of the database, for who reads for longer than a program does. */
export interface Snapshot {
  /** Runs a program of reads, which sees the state of when the snapshot was taken. */
  read<T>(program: Read<T>): Promise<T>
  /** Gives it up: what it holds back, such as the log of a file, can go on. */
  close(): void
}

/**
 * All that the engine asks of its database: SQLite in this process (`database.ts`), or a server of PostgreSQL
 * (`postgres/postgres.ts`).
 */
export interface Driver {
  /** Runs a program of reads; all of them see one state of the database. */
  read<T>(program: Read<T>): Promise<T>

  /** Takes a snapshot, to be closed soon. It has a connection of its own. */
  snapshot(): Promise<Snapshot>

  /** Runs the program that `work` makes in a transaction that is durable when the promise resolves. It may be made, and run, again. */
  write<T>(work: () => Write<T> | T, options?: WriteOptions): Promise<T>

  /** `write` for what only tells of something, as a trace does: others may see it before it is durable. */
  record<T>(work: () => Write<T> | T, options?: WriteOptions): Promise<T>

  /** Resolves when all that can be seen now is durable, or could not be made so. */
  durable(): Promise<void>

  /**
   * Runs what recovers rows, before anything that is asked after it. Where it cannot be written yet, it is owed: nobody
   * writes to rows that were not recovered.
   */
  recover(work: () => Write<unknown>): void

  /** Whether nothing can be written now. */
  readonly broken: boolean

  /** What is wrong with the file that the database is, once that was met: nothing is written until the next start. */
  readonly damage: DatabaseDamaged | undefined

  /** Whether what was committed is on a second server, too. Absent where the database is a file. */
  hasStandby?(): Promise<boolean>

  counts(): DatabaseCounts

  /** @param last runs when nothing of this process uses the database any more */
  close(last?: () => void): Promise<void>
}
