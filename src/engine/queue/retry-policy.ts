import { KsError } from '../../contract/errors.js'
import type { JobRow } from '../rows/jobs.js'
import { IndexProcessDied } from '../search/ports.js'

const MAX_ATTEMPTS = 5
const FIRST_RETRY_MILLISECONDS = 1000
export const MAX_RETRY_MILLISECONDS = 5 * 60_000
/** a temporary problem delays documents by at most this after its end */
const MAX_WAIT_MILLISECONDS = 30_000
/** a job waits this long for a temporary problem (decisions.md section 4) */
const LONGEST_WAIT_DAYS = 7
const DAY = 24 * 60 * 60 * 1000

/** A full disk, too many open files, a database that another process has locked. */
const PASSING_CODES = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'ENOMEM', 'SQLITE_FULL', 'SQLITE_BUSY'])

export interface Failure {
  code: string
  message: string
}

/** Whether the indexed documents may have crashed the index process. */
export function mayBePoison(error: unknown): boolean {
  return error instanceof IndexProcessDied
}

/** Whether the same work will succeed later without a change: then it counts as no attempt. */
export function passesByItself(error: unknown): boolean {
  if (mayBePoison(error)) return false
  if (error instanceof KsError) return error.code === 'unavailable' || error.code === 'storage-full'
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && PASSING_CODES.has(error.code)
}

/** The failure that ends a job; undefined while it is retried. @param now time for ages and expiry */
export function givenUp(job: JobRow, failure: Failure, passes: boolean, now: number): Failure | undefined {
  if (!passes) return job.attempts + 1 >= MAX_ATTEMPTS ? failure : undefined
  if (now - (job.waiting_since ?? now) < LONGEST_WAIT_DAYS * DAY) return undefined
  return { ...failure, message: `${failure.message}: not resolved within ${LONGEST_WAIT_DAYS} days` }
}

/** Delay of a failed job's retry, in milliseconds. @param attempts number of earlier failures */
export function pauseBefore(attempts: number): number {
  return spread(Math.min(FIRST_RETRY_MILLISECONDS * 2 ** attempts, MAX_RETRY_MILLISECONDS))
}

/** Delay of a job that waits for a temporary problem, in milliseconds. @param waits number of earlier waits */
export function waitBefore(waits: number): number {
  return spread(Math.min(FIRST_RETRY_MILLISECONDS * 2 ** waits, MAX_WAIT_MILLISECONDS))
}

function spread(milliseconds: number): number {
  return Math.round(milliseconds * (0.5 + Math.random() / 2))
}

export function failureOf(error: unknown): Failure {
  if (mayBePoison(error))
    return { code: 'crashed', message: 'the search index process ended while it indexed this document' }
  return { code: error instanceof KsError ? error.code : 'internal', message: describe(error) }
}

export function describe(error: unknown): string {
  return error instanceof KsError
    ? error.message
    : error instanceof Error
      ? `${error.name}: ${error.message}`
      : String(error)
}
