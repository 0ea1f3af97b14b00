/** A value that can be bound to a statement. */
export type Bindable = string | number | bigint | Uint8Array | null

interface Statement {
  sql: string
  values: readonly Bindable[]
}

/**
 * A statement that reads. With `stored`, cells are returned as they are, damaged or not; with `cells`, each row is a
 * list of cells.
 */
export interface ReadStatement extends Statement {
  verb: 'get' | 'all'
  stored?: true
  cells?: true
}

/** A statement that writes. */
export interface WriteStatement extends Statement {
  verb: 'run'
}

/** One statement that runs once per list of values, in order. */
interface RepeatedStatement {
  sql: string
  lists: readonly (readonly Bindable[])[]
}

/** A statement that returns rows for each list of values. */
export interface RepeatedRead extends RepeatedStatement {
  verb: 'all'
}

/** A statement that writes for each list of values. */
export interface RepeatedWrite extends RepeatedStatement {
  verb: 'run'
}

/** A statement of SQL. */
export type DatabaseStatement = ReadStatement | RepeatedRead | WriteStatement | RepeatedWrite

/** A reading of the clock with which the driver was opened. */
export interface ClockReading {
  verb: 'clock'
}

/** A statement that a program yields to its driver. */
export type ProgramStatement = DatabaseStatement | ClockReading

/**
 * A program that reads: it yields each statement to the driver that runs it and gets the rows back. It consists of
 * statements and computation alone, so that any driver can run it in one transaction, and run it again.
 */
export type Read<T> = Generator<ReadStatement | RepeatedRead | ClockReading, T, unknown>

/** A program that may also write. A program that only reads is one, too. */
export type Write<T> = Generator<ProgramStatement, T, unknown>

/** A program whose clock readings are answered. */
export type SqlProgram<T> = Generator<DatabaseStatement, T, unknown>

/** @returns the time of the driver's clock, in milliseconds since the epoch */
export function* readClock(): Read<number> {
  return (yield { verb: 'clock' }) as number
}
