import type { Database } from './database.js'
import { type Read, sql } from './program.js'

/** what a slice gives back at most: half a megabyte, for which as much may have to be moved first */
const SLICE_PAGES = 64
/** fewer are not worth a transaction */
const LEAST_PAGES = 8
/** One page in so many may stay free: what is written next takes it, and the file need not grow again at once. */
const PAGES_A_FREE_ONE = 16
/** `PRAGMA auto_vacuum` of a file that can be made smaller in slices */
const INCREMENTAL = 2

/**
 * Gives some of the room in the file that removed rows left back to the disk. A file that was made before this could be done
 * keeps it for rows to come.
 * @returns whether there is more to give back
 */
export async function giveBackPages(db: Database): Promise<boolean> {
  const spare = db.now(number('freelist_count')) - Math.ceil(db.now(number('page_count')) / PAGES_A_FREE_ONE)
  if (spare < LEAST_PAGES || db.now(number('auto_vacuum')) !== INCREMENTAL) return false
  await db.write(() => db.giveBack(Math.min(spare, SLICE_PAGES)))
  return true
}

function* number(pragma: 'freelist_count' | 'page_count' | 'auto_vacuum'): Read<number> {
  return (yield* sql.get<Record<string, number>>(`PRAGMA ${pragma}`))?.[pragma] ?? 0
}
