import type { Caller } from '../base/caller.js'
import type { Database } from './database.js'

/**
 * The write of an operation whose result is the answer to its request. Under an Idempotency-Key the answer is kept in the
 * same transaction: whoever finds the effect after a crash finds the answer, and a repeat does nothing a second time.
 *
 * @param answer makes the answer of the result, where they differ
 */
export function writeAnswer<T>(
  db: Database,
  { answered }: Caller,
  work: () => T,
  answer: (result: T) => unknown = (result) => result,
): Promise<T> {
  if (answered === undefined) return db.write(work)
  return db.write(() => {
    const result = work()
    answered(answer(result))
    return result
  })
}
