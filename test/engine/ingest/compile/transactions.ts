import { vi } from 'vitest'
import { Database } from '../../../../src/engine/store/database.js'
import { isProgram, type Write } from '../../../../src/engine/store/program.js'

/** The maxima of one transaction since the start of the measurement. */
export interface TransactionMaxima {
  /** Statements that change rows. */
  statements: number
  /** Bytes of all bound values. */
  bytes: number
}

/**
 * Measures every transaction of every database of this process. A transaction blocks the event loop from its first
 * statement to its last, so the number of statements and bytes shows how long other work waits, on any machine.
 */
export function watchTransactions(): TransactionMaxima {
  const largest: TransactionMaxima = { statements: 0, bytes: 0 }
  let now: TransactionMaxima = { statements: 0, bytes: 0 }
  const watched = <T>(work: () => Write<T> | T) => {
    return function* (): Write<T> {
      now = { statements: 0, bytes: 0 }
      try {
        const made = work()
        return isProgram(made) ? ((yield* made) as T) : made
      } finally {
        largest.statements = Math.max(largest.statements, now.statements)
        largest.bytes = Math.max(largest.bytes, now.bytes)
      }
    }
  }
  const { write, writeNow, execute } = Database.prototype
  vi.spyOn(Database.prototype, 'write').mockImplementation(function (this: Database, work) {
    return write.call(this, watched(work))
  })
  vi.spyOn(Database.prototype, 'writeNow').mockImplementation(function (this: Database, work) {
    return writeNow.call(this, watched(work))
  })
  vi.spyOn(Database.prototype, 'execute').mockImplementation(function (this: Database, asked) {
    const lists = asked.verb !== 'run' ? [] : 'lists' in asked ? asked.lists : [asked.values]
    now.statements += lists.length
    for (const value of lists.flat())
      if (typeof value === 'string' || value instanceof Uint8Array) now.bytes += value.length
    return execute.call(this, asked)
  })
  return largest
}
