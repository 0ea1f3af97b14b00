import type { Caller } from '../base/caller.js'
import type { Driver, WriteOptions } from './driver.js'
import { isProgram, type Read, type Write } from './program.js'
import { writeOnce } from './write-once.js'

interface ReplyWriteOptions<T> extends WriteOptions {
  /** makes the reply from the result, where they differ */
  toReply?: (result: T) => unknown
  /** finds the result of a write whose commit a server did not confirm: its reply was stored with it */
  findResult?: () => Read<T | undefined>
}

/**
 * Runs the write of an operation whose result is the reply to its request. Under an Idempotency-Key the reply is stored
 * in the same transaction, so that a repeated request after a crash finds it and changes nothing.
 */
export function writeReply<T>(
  db: Driver,
  { recordAnswer }: Caller,
  work: () => Write<T> | T,
  { toReply = (result) => result, findResult, ...options }: ReplyWriteOptions<T> = {},
): Promise<T> {
  if (recordAnswer === undefined && findResult === undefined) return db.write(work, options)
  function* writeWithReply(): Write<T> {
    const made = work()
    const result = isProgram(made) ? yield* made : made
    if (recordAnswer !== undefined) yield* recordAnswer(toReply(result))
    return result
  }
  return findResult === undefined
    ? db.write(writeWithReply, options)
    : writeOnce(db, writeWithReply, findResult, options)
}
