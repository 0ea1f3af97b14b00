/** A value that a statement can be given. */
export type Bindable = string | number | bigint | Uint8Array | null

/** What a statement changed: rows, and the key of the row that it inserted last. */
export interface Changed {
  changes: number
  key: number
}

interface Statement {
  sql: string
  values: readonly Bindable[]
}

/** A statement that reads. `stored` gives cells as they are, damaged or not. */
export interface Query extends Statement {
  verb: 'get' | 'all'
  stored?: true
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

/** The statements that programs are made of: `const row = yield* sql.get<JobRow>('SELECT …', [id])`. */
export const sql = {
  /**
   * @returns the first row, or undefined. The caller names the row type; columns come as SQLite types. A cell without the
   *   format of its column (see `format-tables.ts`) throws `data-damaged` when it is read; the others can be used.
   */
  *get<T>(text: string, values: readonly Bindable[] = []): Read<T | undefined> {
    // the row type is the caller's word for the columns of its own text
    return (yield { verb: 'get', sql: text, values }) as T | undefined
  },

  /** The same for all rows. A list leaves out those that cannot be read, with `readable`. */
  *all<T>(text: string, values: readonly Bindable[] = []): Read<T[]> {
    return (yield { verb: 'all', sql: text, values }) as T[]
  },

  /** The first row as it is stored, damaged or not: for who looks for damage. */
  *getAsStored<T>(text: string, values: readonly Bindable[] = []): Read<T | undefined> {
    return (yield { verb: 'get', sql: text, values, stored: true }) as T | undefined
  },

  /** All rows as they are stored. */
  *allAsStored<T>(text: string, values: readonly Bindable[] = []): Read<T[]> {
    return (yield { verb: 'all', sql: text, values, stored: true }) as T[]
  },

  *run(text: string, values: readonly Bindable[] = []): Write<Changed> {
    return (yield { verb: 'run', sql: text, values }) as Changed
  },

  /** Runs a statement that writes and ends in `RETURNING`. @returns all rows that it changed */
  *returning<T>(text: string, values: readonly Bindable[] = []): Write<T[]> {
    return (yield { verb: 'all', sql: text, values }) as T[]
  },
}

/** Whether a transaction's work is a program, which its driver has to run. */
export function isProgram(work: unknown): work is Write<unknown> {
  return typeof work === 'object' && work !== null && Symbol.iterator in work && 'next' in work && 'throw' in work
}
