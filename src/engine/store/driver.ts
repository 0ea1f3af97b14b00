import type { Read, Write } from './program.js'
import type { DatabaseDamaged } from './sql-errors.js'

/** Names a space: the key of its row, its id, or the id of one of its jobs. */
export type SpaceReference = number | { tenant: string; id: string } | { tenant: string; jobId: string }

export interface WriteOptions {
  /**
   * Row that is locked until the commit, before the program's first statement: of a space, for programs whose rows all
   * writers of the space change, such as publications; or of a chat application. Each statement then sees everything
   * committed before it. SQLite serializes writers anyway.
   */
  lock?: SpaceReference | { tenant: string; appId: string }
  /** For heartbeats only: a server reserves connections for them. */
  isUrgent?: boolean
  /**
   * Name that is locked until the commit, before the first statement: for programs that write rows outside of any
   * space.
   */
  lockName?: string
}

/** Counts since the driver was opened. */
export interface DatabaseCounts {
  commits: number
  /** write programs, which may share commits */
  writes: number
  /** statements that get one row, get several rows, and change rows */
  get: number
  all: number
  run: number
  /** writes that wait for a commit or a connection now */
  waitingWrites: number
}

/** One state of the database, for readers that need longer than one program. */
export interface Snapshot {
  /** Runs a program of reads on the state at which the snapshot was taken. */
  read<T>(program: Read<T>): Promise<T>
  /** Closes the snapshot and releases what it blocks, such as the log of a file. */
  close(): void
}

/**
 * The database as the engine uses it: SQLite in this process (`database.ts`), or a PostgreSQL server
 * (`postgres/postgres.ts`).
 */
export interface Driver {
  /** Runs a program of reads; all of them see one state of the database. */
  read<T>(program: Read<T>): Promise<T>

  /** Takes a snapshot on a separate connection. The caller closes it soon. */
  snapshot(): Promise<Snapshot>

  /**
   * Runs the program that `work` creates in a transaction that is durable when the promise resolves. A retry creates
   * and runs it again.
   */
  write<T>(work: () => Write<T> | T, options?: WriteOptions): Promise<T>

  /** `write` for records such as traces: others may see the rows before they are durable. */
  record<T>(work: () => Write<T> | T, options?: WriteOptions): Promise<T>

  /** Resolves when everything visible now is durable, or its sync has failed. */
  durable(): Promise<void>

  /**
   * Runs the recovery of rows, before anything requested later. If it cannot be written yet, it is deferred: nothing
   * writes to rows before they are recovered.
   */
  recover(work: () => Write<unknown>): void

  /** Whether nothing can be written now. */
  readonly broken: boolean

  /** Damage of the database file, once it was found: nothing is written until the next start. */
  readonly damage: DatabaseDamaged | undefined

  /** Whether commits are also stored on a second server. Absent where the database is a file. */
  hasStandby?(): Promise<boolean>

  counts(): DatabaseCounts

  /** @param last runs when nothing in this process uses the database any more */
  close(last?: () => void): Promise<void>
}
