import { KsError } from '../../contract/errors.js'
import type { Bindable, DatabaseStatement, Read, SqlProgram, Write } from '../base/statements.js'

export { readClock } from '../base/statements.js'
export type { Bindable, DatabaseStatement, Read, SqlProgram, Write }

/** Number of rows that a statement changed. */
export interface ChangeCount {
  changes: number
}

/** Statements for programs: `const row = yield* sql.get<JobRow>('SELECT …', [id])`. */
export const sql = {
  /**
   * @returns the first row, or undefined. The caller names the row type; columns come as SQLite types. A cell without the
   *   format of its column (see `format-tables.ts`) throws `data-damaged` when it is read; the others can be used.
   */
  *get<T>(text: string, values: readonly Bindable[] = []): Read<T | undefined> {
    // the caller names the row type for the columns of its text
    return (yield { verb: 'get', sql: text, values }) as T | undefined
  },

  /** Whether a query has a row. */
  *exists(text: string, values: readonly Bindable[] = []): Read<boolean> {
    return (yield* sql.get(text, values)) !== undefined
  },
  /** The number in column `n` of the only row of a query; 0 without a row. */
  *count(text: string, values: readonly Bindable[] = []): Read<number> {
    return (yield* sql.get<{ n: number }>(text, values))?.n ?? 0
  },
  /** `get` for all rows. A list omits unreadable rows with `mapReadable`. */
  *all<T>(text: string, values: readonly Bindable[] = []): Read<T[]> {
    return (yield { verb: 'all', sql: text, values }) as T[]
  },

  /** The first row as it is stored, damaged or not: for integrity checks. */
  *getAsStored<T>(text: string, values: readonly Bindable[] = []): Read<T | undefined> {
    return (yield { verb: 'get', sql: text, values, stored: true }) as T | undefined
  },

  /** All rows as they are stored. */
  *allAsStored<T>(text: string, values: readonly Bindable[] = []): Read<T[]> {
    return (yield { verb: 'all', sql: text, values, stored: true }) as T[]
  },

  /**
   * All rows as they are stored, each as a list of its cells: for reading complete tables, at half the cost of objects.
   */
  *cellsAsStored(text: string, values: readonly Bindable[] = []): Read<unknown[][]> {
    // `cells` returns each row as a list
    return (yield { verb: 'all', sql: text, values, stored: true, cells: true }) as unknown[][]
  },

  *run(text: string, values: readonly Bindable[] = []): Write<ChangeCount> {
    return (yield { verb: 'run', sql: text, values }) as ChangeCount
  },

  /** Inserts one row with a statement that ends in `RETURNING key`. @returns its key */
  *inserted(text: string, values: readonly Bindable[] = []): Write<number> {
    const [row] = (yield { verb: 'all', sql: text, values }) as { key: number }[]
    if (row === undefined) throw new KsError('internal', 'a row was not inserted')
    return row.key
  },

  /** Runs a writing statement that ends in `RETURNING`. @returns all rows that it changed */
  *returning<T>(text: string, values: readonly Bindable[] = []): Write<T[]> {
    return (yield { verb: 'all', sql: text, values }) as T[]
  },

  /**
   * Runs a statement with each list of values, one after the other. Replaces a loop, in which every iteration is a
   * round trip to a server. If one fails, the program fails.
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

  /** The same with a writing statement. @returns the number of rows that each changed */
  *runEach(text: string, lists: readonly (readonly Bindable[])[]): Write<number[]> {
    if (lists.length === 0) return []
    return (yield { verb: 'run', sql: text, lists }) as number[]
  },

  /** The same with a writing statement that ends in `RETURNING`. @returns the rows that each changed */
  *returningEach<T>(text: string, lists: readonly (readonly Bindable[])[]): Write<T[][]> {
    if (lists.length === 0) return []
    return (yield { verb: 'all', sql: text, lists }) as T[][]
  },
}

/** Answers the clock readings of a program. */
export function* answerClock<T>(program: Write<T>, clock: () => number): SqlProgram<T> {
  for (let step = program.next(); ; ) {
    if (step.done === true) return step.value
    if (step.value.verb === 'clock') {
      step = program.next(clock())
      continue
    }
    let outcome: unknown
    try {
      outcome = yield step.value
    } catch (error) {
      step = program.throw(error)
      continue
    }
    step = program.next(outcome)
  }
}

/** Whether the work of a transaction is a program, which its driver has to run. */
export function isProgram(work: unknown): work is Write<unknown> {
  return typeof work === 'object' && work !== null && Symbol.iterator in work && 'next' in work && 'throw' in work
}
