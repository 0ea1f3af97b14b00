import { KsError } from '../../contract/errors.js'
import type { JobRow } from '../rows/jobs.js'
import { IndexProcessDied } from '../search/ports.js'

const MAX_ATTEMPTS = 5
const FIRST_RETRY_MILLISECONDS = 1000
export const MAX_RETRY_MILLISECONDS = 5 * 60_000
/** what passes by itself is over within a minute for its documents, too */
const MAX_WAIT_MILLISECONDS = 30_000
/** what passes by itself is waited for so long (decisions.md section 4) */
const LONGEST_WAIT_DAYS = 7
const DAY = 24 * 60 * 60 * 1000

/** A disk without room, too many open files, a database that another process holds. */
const PASSING_CODES = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'ENOMEM', 'SQLITE_FULL', 'SQLITE_BUSY'])

export interface Failure {
  code: string
  message: string
}

/** Whether what was given to the indexes may be what ends their process. */
export function mayBePoison(error: unknown): boolean {
  return error instanceof IndexProcessDied
}

/** Whether the same work succeeds later although nobody changes it: then it counts as no try. */
export function passesByItself(error: unknown): boolean {
  if (mayBePoison(error)) return false
  if (error instanceof KsError) return error.code === 'unavailable' || error.code === 'storage-full'
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && PASSING_CODES.has(error.code)
}

/** Why a job is given up after this failure; nothing while it is tried again. @param now by which things grow old */
export function givenUp(job: JobRow, failure: Failure, passes: boolean, now: number): Failure | undefined {
  if (!passes) return job.attempts + 1 >= MAX_ATTEMPTS ? failure : undefined
  if (now - (job.waiting_since ?? now) < LONGEST_WAIT_DAYS * DAY) return undefined
  return { ...failure, message: `${failure.message}: this has not passed in ${LONGEST_WAIT_DAYS} days` }
}

/** Milliseconds until a job that failed is tried again. @param attempts how often it has failed before */
export function pauseBefore(attempts: number): number {
  return spread(Math.min(FIRST_RETRY_MILLISECONDS * 2 ** attempts, MAX_RETRY_MILLISECONDS))
}

/** Milliseconds until a job is tried again that waits for what passes by itself. @param waits how often it has waited */
export function waitBefore(waits: number): number {
  return spread(Math.min(FIRST_RETRY_MILLISECONDS * 2 ** waits, MAX_WAIT_MILLISECONDS))
}

function spread(milliseconds: number): number {
  return Math.round(milliseconds * (0.5 + Math.random() / 2))
}

export function failureOf(error: unknown): Failure {
  if (mayBePoison(error))
    return { code: 'crashed', message: 'the search index process ended while it took this document' }
  return { code: error instanceof KsError ? error.code : 'internal', message: describe(error) }
}

export function describe(error: unknown): string {
  return error instanceof KsError
    ? error.message
    : error instanceof Error
      ? `${error.name}: ${error.message}`
      : String(error)
}
