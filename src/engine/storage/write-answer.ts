import type { Caller } from '../base/caller.js'
import type { Driver, WriteOptions } from './driver.js'
import { isProgram, type Read, type Write } from './program.js'
import { writeOnce } from './write-once.js'

interface AnswerOptions<T> extends WriteOptions {
  /** makes the reply from the result, where they differ */
  answer?: (result: T) => unknown
  /** finds the result of a write whose commit a server did not confirm: its reply was stored with it */
  look?: () => Read<T | undefined>
}

/**
 * Runs the write of an operation whose result is the reply to its request. Under an Idempotency-Key the reply is stored
 * in the same transaction, so that a repeated request after a crash finds it and changes nothing.
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
