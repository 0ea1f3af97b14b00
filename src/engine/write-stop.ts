import type { EngineContext } from './context.js'
import { DatabaseDamaged } from './storage/sql-errors.js'

/** Whether work that ends in a write is not begun: the disk is full, or the database is damaged. */
export function isWriteStopped({ db, options }: Pick<EngineContext, 'db' | 'options'>): boolean {
  return options.room?.isFull === true || db.damage !== undefined
}

/** What a report of how things are says; something else where the database is too damaged to tell. */
export function unlessDatabaseDamaged<T>(work: () => T, otherwise: T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof DatabaseDamaged) return otherwise
    throw error
  }
}
