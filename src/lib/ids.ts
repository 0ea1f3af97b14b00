import { randomFillSync } from 'node:crypto'
import { v7, validate } from 'uuid'

const RANDOM_BYTES = 16
/** Random bytes are fetched for 256 ids at once: each fetch costs more than the rest of an id. */
const pool = new Uint8Array(256 * RANDOM_BYTES)
let used = pool.length
let msecs = 0
let seq = 0

/** Creates a UUIDv7 (RFC 9562). Ids sort by the time of their creation, also within one millisecond. */
export function newId(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const random = pool.subarray(used, used + RANDOM_BYTES)
  used += RANDOM_BYTES
  const now = Date.now()
  if (now > msecs) {
    msecs = now
    seq = new DataView(random.buffer, random.byteOffset).getUint32(6) >>> 1
  } else {
    seq = (seq + 1) | 0
    // The counter overflows: the next millisecond begins early.
    if (seq === 0) msecs++
  }
  return v7({ random, msecs, seq })
}

/** Whether a string is a UUID in its canonical text form. */
export function isUuid(value: string): boolean {
  return validate(value)
}
