import { vi } from 'vitest'
import { Database } from '../../../src/engine/storage/database.js'

/** What one transaction did at most, since it was begun to be watched. */
export interface Largest {
  /** statements that change rows */
  statements: number
  /** bytes of all that was bound to them */
  bytes: number
}

/**
 * Watches every transaction of every database of this process: a transaction holds the event loop from its first statement
 * to its last, so their number and bytes tell how long it kept everything else waiting, on any machine.
 */
export function watchTransactions(): Largest {
  const largest: Largest = { statements: 0, bytes: 0 }
  let now: Largest = { statements: 0, bytes: 0 }
  const watched = <T>(work: () => T) => {
    return () => {
      now = { statements: 0, bytes: 0 }
      try {
        return work()
      } finally {
        largest.statements = Math.max(largest.statements, now.statements)
        largest.bytes = Math.max(largest.bytes, now.bytes)
      }
    }
  }
  const { write, writeNow, run } = Database.prototype
  vi.spyOn(Database.prototype, 'write').mockImplementation(function (this: Database, work) {
    return write.call(this, watched(work))
  })
  vi.spyOn(Database.prototype, 'writeNow').mockImplementation(function (this: Database, work) {
    return writeNow.call(this, watched(work))
  })
  vi.spyOn(Database.prototype, 'run').mockImplementation(function (this: Database, sql, ...values) {
    now.statements++
    for (const value of values) if (typeof value === 'string' || value instanceof Uint8Array) now.bytes += value.length
    return run.call(this, sql, ...values)
  })
  return largest
}
