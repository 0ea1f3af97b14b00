import type { Caller } from '../base/caller.js'
import type { Driver } from './driver.js'
import { isProgram, type Write } from './program.js'

/**
 * The write of an operation whose result is the answer to its request. Under an Idempotency-Key the answer is kept in the
 * same transaction: where the effect is found after a crash, the answer is found, too, and a repeat does nothing a second time.
 *
 * @param answer makes the answer of the result, where they differ
 */
export function writeAnswer<T>(
  db: Driver,
  { answered }: Caller,
  work: () => Write<T> | T,
  answer: (result: T) => unknown = (result) => result,
): Promise<T> {
  if (answered === undefined) return db.write(work)
  return db.write(function* () {
    const made = work()
    const result = isProgram(made) ? yield* made : made
    yield* answered(answer(result))
    return result
  })
}
