import type { Database } from './database.js'
import { type Read, sql } from './program.js'

/** maximum of one slice: half a megabyte, for which as much may have to be moved first */
const MAX_SLICE_PAGES = 64
/** fewer pages are not worth a transaction */
const MIN_PAGES = 8
/** One of this many pages may stay free: the next writes use it, so that the file need not grow at once. */
const PAGES_PER_FREE_PAGE = 16
/** `PRAGMA auto_vacuum` of a file that can shrink in slices */
const INCREMENTAL = 2

/**
 * Returns some of the space that removed rows left in the file to the disk. A file created without incremental vacuum
 * keeps it for new rows.
 * @returns whether more can be released
 */
export async function releaseFreePages(db: Database): Promise<boolean> {
  const spare = db.now(readPragma('freelist_count')) - Math.ceil(db.now(readPragma('page_count')) / PAGES_PER_FREE_PAGE)
  if (spare < MIN_PAGES || db.now(readPragma('auto_vacuum')) !== INCREMENTAL) return false
  await db.write(() => db.vacuumPages(Math.min(spare, MAX_SLICE_PAGES)))
  return true
}

function* readPragma(pragma: 'freelist_count' | 'page_count' | 'auto_vacuum'): Read<number> {
  return (yield* sql.get<Record<string, number>>(`PRAGMA ${pragma}`))?.[pragma] ?? 0
}
