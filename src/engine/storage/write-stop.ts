import type { EngineOptions } from '../base/options.js'
import type { Database } from './database.js'
import { DatabaseDamaged } from './sql-errors.js'

/** What says that nothing can be written. */
interface Writing {
  db: Pick<Database, 'damage'>
  options: Pick<EngineOptions, 'room'>
}

/** Whether work that ends in a write is not begun: the disk is full, or the database is damaged. */
export function isWriteStopped({ db, options }: Writing): boolean {
  return options.room?.isFull === true || db.damage !== undefined
}

/** What a report of how things are says; something else where the database is too damaged to tell. */
export async function readUnlessDamaged<T>(reading: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof DatabaseDamaged) return otherwise
    throw error
  }
}
