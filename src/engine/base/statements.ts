/** A value that a statement can be given. */
export type Bindable = string | number | bigint | Uint8Array | null

interface Statement {
  sql: string
  values: readonly Bindable[]
}

/** A statement that reads. `stored` gives cells as they are, damaged or not; with `cells` each row is a list of them. */
export interface Query extends Statement {
  verb: 'get' | 'all'
  stored?: true
  cells?: true
}

/** A statement that writes. */
export interface Change extends Statement {
  verb: 'run'
}

/**
 * A program of statements that reads: it yields each statement to the driver that runs it and gets the rows back. Made of
 * statements and arithmetic alone, so that any driver can run it in one transaction, and run it again.
 */
export type Read<T> = Generator<Query, T, unknown>

/** A program that also writes. A program that reads is one, too. */
export type Write<T> = Generator<Query | Change, T, unknown>
