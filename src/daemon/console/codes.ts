import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Caller } from '../../engine/base/caller.js'
import { newId } from '../../lib/ids.js'

export const CODE_SECONDS = 60

const CODE_BYTES = 32
/** More than anyone opens within a minute; above it, the oldest codes are removed. */
const MAX_CODES = 100

/** A session that a code will start. */
export interface PlannedSession {
  caller: Caller
  id: string
}

interface PendingCode extends PlannedSession {
  hash: Buffer
  /** milliseconds of the monotonic clock */
  expiresAtMs: number
}

/** Unused codes: each is valid once, for a minute. */
export interface ConsoleCodes {
  create(caller: Caller): { code: string; sessionId: string }
  /** @returns the session to start; undefined for a code that is unknown, used or expired */
  use(code: string): PlannedSession | undefined
}

/** @param now milliseconds of a monotonic clock */
export function createConsoleCodes(now: () => number = () => performance.now()): ConsoleCodes {
  let pending: PendingCode[] = []
  const removeExpired = () => {
    pending = pending.filter(({ expiresAtMs }) => expiresAtMs > now()).slice(-MAX_CODES)
  }
  return {
    create: (caller) => {
      const code = randomBytes(CODE_BYTES).toString('base64url')
      const id = newId()
      pending.push({ hash: hashCode(code), caller, id, expiresAtMs: now() + CODE_SECONDS * 1000 })
      removeExpired()
      return { code, sessionId: id }
    },
    use: (code) => {
      removeExpired()
      const hash = hashCode(code)
      // All hashes are compared, each in constant time.
      const matches = pending.filter((candidate) => timingSafeEqual(candidate.hash, hash))
      pending = pending.filter((candidate) => !matches.includes(candidate))
      const [first] = matches
      return first && { caller: first.caller, id: first.id }
    },
  }
}

function hashCode(code: string): Buffer {
  return createHash('sha256').update(code).digest()
}
