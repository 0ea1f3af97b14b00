import { KsError } from '../../contract/errors.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import type { Read } from './program.js'
import { DatabaseDamaged } from './sql-errors.js'

/**
 * Parses a cell of JSON text. The caller names the type of its value.
 *
 * @throws KsError `data-damaged` where it is not JSON
 */
export function parseJsonCell<T>(text: string): T {
  try {
    return JSON.parse(text) as T
  } catch (error) {
    throw new KsError('data-damaged', 'a stored value is damaged: it is not JSON; `ks fsck` lists its row', {
      cause: error,
    })
  }
}

/**
 * Replaces cells of a row that a statement returned. A copy by `{ ...row }` would read every cell, and throw for a
 * damaged one that the caller does not need.
 */
export function replaceCells<R extends object>(row: R, cells: Partial<R>): R {
  for (const [name, value] of Object.entries(cells))
    Object.defineProperty(row, name, { value, configurable: true, enumerable: true, writable: true })
  return row
}

/** Returns the result of `work`; nothing where it read a damaged cell, which was reported when it was read. */
export function unlessDamaged<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    return unlessDamagedError(error)
  }
}

/** The same for the program that `work` creates: the cells for its parameters are read while it is created. */
export function* unlessDamagedIn<T>(work: () => Read<T>): Read<T | undefined> {
  try {
    return yield* work()
  } catch (error) {
    return unlessDamagedError(error)
  }
}

/** Returns nothing for an error about damaged data. @throws any other error, and damage of the database file */
export function unlessDamagedError(error: unknown): undefined {
  if (!(error instanceof KsError) || error.code !== 'data-damaged' || error instanceof DatabaseDamaged) throw error
}

/** Converts the rows of a list; omits damaged ones. */
export function mapReadable<R, T>(rows: readonly R[], convert: (row: R) => T): T[] {
  return rows.flatMap((row) => {
    const made = unlessDamaged(() => [convert(row)])
    return made ?? []
  })
}

/** The same where the conversion needs statements. */
export function* mapReadableIn<R, T>(rows: readonly R[], convert: (row: R) => Read<T>): Read<T[]> {
  const converted: T[] = []
  for (const row of rows) {
    const value = yield* unlessDamagedIn(() => convert(row))
    if (value !== undefined) converted.push(value)
  }
  return converted
}

/**
 * A page of a list, without its damaged rows.
 *
 * @param rows one more than `limit`, where there are more
 * @param toCursor the cursor of a row; where it needs a damaged cell, the page continues after the row before
 */
export function readablePage<R, T>(
  rows: readonly R[],
  limit: number,
  convert: (row: R) => T,
  toCursor: (row: R) => string,
): { items: T[]; nextCursor?: string } {
  const shown = rows.slice(0, limit)
  return { items: mapReadable(shown, convert), ...cursorAfter(rows, limit, toCursor) }
}

/** The cursor of the last readable row of a page; none where no page follows. `rows`: as for `readablePage`. */
export function cursorAfter<R>(
  rows: readonly R[],
  limit: number,
  toCursor: (row: R) => string,
): { nextCursor?: string } {
  if (rows.length <= limit) return {}
  return omitUndefined({ nextCursor: mapReadable(rows.slice(0, limit), toCursor).at(-1) })
}

/** `readablePage` for rows whose conversion needs statements. */
export function* readablePageIn<R, T>(
  rows: readonly R[],
  limit: number,
  convert: (row: R) => Read<T>,
  toCursor: (row: R) => string,
): Read<{ items: T[]; nextCursor?: string }> {
  const { nextCursor } = readablePage(rows, limit, (row) => row, toCursor)
  return { items: yield* mapReadableIn(rows.slice(0, limit), convert), ...omitUndefined({ nextCursor }) }
}

/** SQL for the value at a path of a column of JSON text; NULL in a damaged row. */
export function jsonPathSql(column: string, path: string): string {
  return `CASE WHEN json_valid(${column}) THEN json_extract(${column}, '${path}') END`
}
