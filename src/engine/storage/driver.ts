import type { Read, Write } from './program.js'

export interface WriteOptions {
  /**
   * Row key of a space whose row is held until the commit, before the program's first statement: for programs that write
   * what all writers of a space do, as publications. Writers of SQLite follow each other anyway.
   */
  lock?: number
}

/** What runs programs: SQLite in this process (`database.ts`), or a server of PostgreSQL (`postgres/postgres.ts`). */
export interface Driver {
  /** Runs a program of reads; all of them see one state of the database. */
  read<T>(program: Read<T>): Promise<T>

  /** Runs the program that `work` makes in a transaction that is durable when the promise resolves. It may be made, and run, again. */
  write<T>(work: () => Write<T> | T, options?: WriteOptions): Promise<T>
}
