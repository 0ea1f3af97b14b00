import { KsError } from '../../contract/errors.js'
import type { EngineOptions } from '../base/options.js'
import type { Driver } from './driver.js'
import { DatabaseDamaged } from './sql-errors.js'

/** What says that nothing can be written. */
interface Writing {
  db: Pick<Driver, 'damage'>
  options: Pick<EngineOptions, 'room'>
}

/** Whether work that ends in a write is not begun: the disk is full, or the database is damaged. */
export function isWriteStopped({ db, options }: Writing): boolean {
  return options.room?.isFull === true || db.damage !== undefined
}

/** What a report of how things are says; something else where the database is too damaged to tell, or does not answer. */
export async function readUnlessDamaged<T>(reading: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof DatabaseDamaged || (error instanceof KsError && error.code === 'unavailable')) return otherwise
    throw error
  }
}
