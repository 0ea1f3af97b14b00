import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Caller } from '../../engine/base/caller.js'
import { newId } from '../../lib/ids.js'

export const CODE_SECONDS = 60

const CODE_BYTES = 32
/** more than anybody opens within a minute; the oldest makes room */
const MOST_CODES = 100

/** A session that a code will begin. */
export interface PlannedSession {
  caller: Caller
  id: string
}

interface PendingCode extends PlannedSession {
  hash: Buffer
  until: number
}

/** Codes that were made and not used yet: each is good once, and for a minute. */
export interface ConsoleCodes {
  make(caller: Caller): { code: string; sessionId: string }
  /** @returns the session to begin; undefined for a code that is unknown, used or expired */
  use(code: string): PlannedSession | undefined
}

/** @param now milliseconds of a clock that only goes forward */
export function createConsoleCodes(now: () => number = () => performance.now()): ConsoleCodes {
  let waiting: PendingCode[] = []
  const drop = () => {
    waiting = waiting.filter(({ until }) => until > now()).slice(-MOST_CODES)
  }
  return {
    make: (caller) => {
      const code = randomBytes(CODE_BYTES).toString('base64url')
      const id = newId()
      waiting.push({ hash: hashOf(code), caller, id, until: now() + CODE_SECONDS * 1000 })
      drop()
      return { code, sessionId: id }
    },
    use: (code) => {
      drop()
      const hash = hashOf(code)
      // all of them are compared, each in the same time
      const found = waiting.filter((candidate) => timingSafeEqual(candidate.hash, hash))
      waiting = waiting.filter((candidate) => !found.includes(candidate))
      const [first] = found
      return first && { caller: first.caller, id: first.id }
    },
  }
}

function hashOf(code: string): Buffer {
  return createHash('sha256').update(code).digest()
}
