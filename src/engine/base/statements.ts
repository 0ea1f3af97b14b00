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

/** One text that is run with each list of values, one after the other. */
interface Repeated {
  sql: string
  lists: readonly (readonly Bindable[])[]
}

/** A statement that gives rows, with each list of values. */
export interface Queries extends Repeated {
  verb: 'all'
}

/** A statement that writes, with each list of values. */
export interface Changes extends Repeated {
  verb: 'run'
}

/** What a program may ask of its driver. */
export type Asked = Query | Queries | Change | Changes

/**
 * A program of statements that reads: it yields each statement to the driver that runs it and gets the rows back. Made of
 * statements and arithmetic alone, so that any driver can run it in one transaction, and run it again.
 */
export type Read<T> = Generator<Query | Queries, T, unknown>

/** A program that also writes. A program that reads is one, too. */
export type Write<T> = Generator<Asked, T, unknown>
