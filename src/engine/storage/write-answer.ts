import type { Caller } from '../base/caller.js'
import type { Driver, WriteOptions } from './driver.js'
import { isProgram, type Write } from './program.js'

interface AnswerOptions<T> extends WriteOptions {
  /** makes the answer of the result, where they differ */
  answer?: (result: T) => unknown
}

/**
 * The write of an operation whose result is the answer to its request. Under an Idempotency-Key the answer is kept in the
 * same transaction: where the effect is found after a crash, the answer is found, too, and a repeat does nothing a second time.
 */
export function writeAnswer<T>(
  db: Driver,
  { answered }: Caller,
  work: () => Write<T> | T,
  { answer = (result) => result, ...options }: AnswerOptions<T> = {},
): Promise<T> {
  if (answered === undefined) return db.write(work, options)
  return db.write(function* () {
    const made = work()
    const result = isProgram(made) ? yield* made : made
    yield* answered(answer(result))
    return result
  }, options)
}
