import { KsError } from '../../../contract/errors.js'
import { IndexProcessFailedError } from '../../search/index.js'
import type { JobRow } from '../../store/rows/jobs.js'

const MAX_ATTEMPTS = 5
const FIRST_RETRY_DELAY_MS = 1000
export const MAX_JOB_RETRY_DELAY_MS = 5 * 60_000
/** a temporary problem delays documents by at most this after its end */
const MAX_WAIT_DELAY_MS = 30_000
/** a job waits this long for a temporary problem */
const MAX_WAIT_DAYS = 7
const DAY_MS = 24 * 60 * 60 * 1000

/** A full disk, too many open files, a database that another process has locked. */
const TEMPORARY_CODES = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'ENOMEM', 'SQLITE_FULL', 'SQLITE_BUSY'])

export interface JobFailure {
  code: string
  message: string
}

/** Whether the indexed documents may have crashed the index process. */
export function mayBePoison(error: unknown): boolean {
  return error instanceof IndexProcessFailedError
}

/** Whether the same work will succeed later without a change: then it counts as no attempt. */
export function isTemporaryError(error: unknown): boolean {
  if (mayBePoison(error)) return false
  if (error instanceof KsError) return error.code === 'unavailable' || error.code === 'storage-full'
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && TEMPORARY_CODES.has(error.code)
}

/** The failure that ends a job; undefined while it is retried. @param now time for ages and expiry */
export function findFinalFailure(
  job: JobRow,
  failure: JobFailure,
  isTemporary: boolean,
  now: number,
): JobFailure | undefined {
  if (!isTemporary) return job.attempts + 1 >= MAX_ATTEMPTS ? failure : undefined
  if (now - (job.waiting_since ?? now) < MAX_WAIT_DAYS * DAY_MS) return undefined
  return { ...failure, message: `${failure.message}: not resolved within ${MAX_WAIT_DAYS} days` }
}

/** Delay of a failed job's retry, in milliseconds. @param attempts number of earlier failures */
export function getRetryDelay(attempts: number): number {
  return addJitter(Math.min(FIRST_RETRY_DELAY_MS * 2 ** attempts, MAX_JOB_RETRY_DELAY_MS))
}

/** Delay of a job that waits for a temporary problem, in milliseconds. @param waits number of earlier waits */
export function getWaitDelay(waits: number): number {
  return addJitter(Math.min(FIRST_RETRY_DELAY_MS * 2 ** waits, MAX_WAIT_DELAY_MS))
}

function addJitter(milliseconds: number): number {
  return Math.round(milliseconds * (0.5 + Math.random() / 2))
}

export function toJobFailure(error: unknown): JobFailure {
  if (mayBePoison(error))
    return { code: 'crashed', message: 'the search index process ended while it indexed this document' }
  return { code: error instanceof KsError ? error.code : 'internal', message: describeError(error) }
}

export function describeError(error: unknown): string {
  return error instanceof KsError
    ? error.message
    : error instanceof Error
      ? `${error.name}: ${error.message}`
      : String(error)
}
