import { KsError } from '../../contract/errors.js'
import type { EngineOptions } from '../base/options.js'
import type { Driver } from './driver.js'
import { DatabaseDamaged } from './sql-errors.js'

/** Sources of the reasons why nothing can be written. */
interface WriteStopContext {
  db: Pick<Driver, 'damage'>
  options: Pick<EngineOptions, 'diskReserve'>
}

/** Whether work that ends in a write must not start: the disk is full, or the database is damaged. */
export function isWriteStopped({ db, options }: WriteStopContext): boolean {
  return options.diskReserve?.isFull === true || db.damage !== undefined
}

/** Reads a status report; returns a fallback where the database is too damaged to read, or does not respond. */
export async function readUnlessDamaged<T>(reading: Promise<T>, fallback: T): Promise<T> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof DatabaseDamaged || (error instanceof KsError && error.code === 'unavailable')) return fallback
    throw error
  }
}
