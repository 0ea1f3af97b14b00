import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Caller } from '../../engine/base/caller.js'

export const CODE_SECONDS = 60

const CODE_BYTES = 32
/** more than anybody opens within a minute; the oldest makes room */
const MOST_CODES = 100

interface Waiting {
  hash: Buffer
  caller: Caller
  until: number
}

/** Codes that were made and not used yet: each is good once, and for a minute. */
export interface ConsoleCodes {
  make(caller: Caller): string
  /** @returns for whom the code was made; undefined for one that is none, was used, or is too old */
  use(code: string): Caller | undefined
}

/** @param now milliseconds of a clock that only goes forward */
export function createConsoleCodes(now: () => number = () => performance.now()): ConsoleCodes {
  let waiting: Waiting[] = []
  const drop = () => {
    waiting = waiting.filter(({ until }) => until > now()).slice(-MOST_CODES)
  }
  return {
    make: (caller) => {
      const code = randomBytes(CODE_BYTES).toString('base64url')
      waiting.push({ hash: hashOf(code), caller, until: now() + CODE_SECONDS * 1000 })
      drop()
      return code
    },
    use: (code) => {
      drop()
      const hash = hashOf(code)
      // all of them are compared, each in the same time
      const found = waiting.filter((candidate) => timingSafeEqual(candidate.hash, hash))
      waiting = waiting.filter((candidate) => !found.includes(candidate))
      return found[0]?.caller
    },
  }
}

function hashOf(code: string): Buffer {
  return createHash('sha256').update(code).digest()
}
