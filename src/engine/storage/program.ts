import { KsError } from '../../contract/errors.js'
import type { Asked, Bindable, Read, Write } from '../base/statements.js'

export type { Asked, Bindable, Read, Write }

/** How many rows a statement changed. */
export interface Changed {
  changes: number
}

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

  /** All rows as they are stored, each as a list of its cells: for who reads whole tables, half of what objects cost. */
  *cellsAsStored(text: string, values: readonly Bindable[] = []): Read<unknown[][]> {
    // `cells` makes lists of the rows
    return (yield { verb: 'all', sql: text, values, stored: true, cells: true }) as unknown[][]
  },

  *run(text: string, values: readonly Bindable[] = []): Write<Changed> {
    return (yield { verb: 'run', sql: text, values }) as Changed
  },

  /** Inserts one row by a statement that ends in `RETURNING key`. @returns its key */
  *inserted(text: string, values: readonly Bindable[] = []): Write<number> {
    const [row] = (yield { verb: 'all', sql: text, values }) as { key: number }[]
    if (row === undefined) throw new KsError('internal', 'a row was not inserted')
    return row.key
  },

  /** Runs a statement that writes and ends in `RETURNING`. @returns all rows that it changed */
  *returning<T>(text: string, values: readonly Bindable[] = []): Write<T[]> {
    return (yield { verb: 'all', sql: text, values }) as T[]
  },

  /**
   * Runs a statement with each list of values, one after the other: in place of a loop, whose every turn is a way to the
   * server and back. One that fails fails the program.
   *
   * @returns the rows of each
   */
  *allEach<T>(text: string, lists: readonly (readonly Bindable[])[]): Read<T[][]> {
    if (lists.length === 0) return []
    return (yield { verb: 'all', sql: text, lists }) as T[][]
  },

  /** The same. @returns the first row of each */
  *getEach<T>(text: string, lists: readonly (readonly Bindable[])[]): Read<(T | undefined)[]> {
    if (lists.length === 0) return []
    return ((yield { verb: 'all', sql: text, lists }) as T[][]).map(([row]) => row)
  },

  /** The same with a statement that writes. @returns how many rows each changed */
  *runEach(text: string, lists: readonly (readonly Bindable[])[]): Write<number[]> {
    if (lists.length === 0) return []
    return (yield { verb: 'run', sql: text, lists }) as number[]
  },

  /** The same with a statement that writes and ends in `RETURNING`. @returns the rows that each changed */
  *returningEach<T>(text: string, lists: readonly (readonly Bindable[])[]): Write<T[][]> {
    if (lists.length === 0) return []
    return (yield { verb: 'all', sql: text, lists }) as T[][]
  },
}

/** Whether a transaction's work is a program, which its driver has to run. */
export function isProgram(work: unknown): work is Write<unknown> {
  return typeof work === 'object' && work !== null && Symbol.iterator in work && 'next' in work && 'throw' in work
}
