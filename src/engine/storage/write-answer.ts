import type { Caller } from '../base/caller.js'
import type { Driver, WriteOptions } from './driver.js'
import { isProgram, type Read, type Write } from './program.js'
import { writeOnce } from './write-once.js'

interface AnswerOptions<T> extends WriteOptions {
  /** makes the answer of the result, where they differ */
  answer?: (result: T) => unknown
  /** finds the result of a write whose commit a server did not confirm: its answer was kept with it */
  look?: () => Read<T | undefined>
}

/**
 * The write of an operation whose result is the answer to its request. Under an Idempotency-Key the answer is kept in the
 * same transaction: where the effect is found after a crash, the answer is found, too, and a repeat does nothing a second time.
 */
export function writeAnswer<T>(
  db: Driver,
  { answered }: Caller,
  work: () => Write<T> | T,
  { answer = (result) => result, look, ...options }: AnswerOptions<T> = {},
): Promise<T> {
  if (answered === undefined && look === undefined) return db.write(work, options)
  function* whole(): Write<T> {
    const made = work()
    const result = isProgram(made) ? yield* made : made
    if (answered !== undefined) yield* answered(answer(result))
    return result
  }
  return look === undefined ? db.write(whole, options) : writeOnce(db, whole, look, options)
}
