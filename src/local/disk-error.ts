import { constants } from 'node:os'
import { KsError } from '../contract/errors.js'

/** No space, a quota of the file system, a file size limit of the process, no inodes. */
const FULL_CODES = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'SQLITE_FULL'])
const READ_ONLY_CODES = new Set(['EROFS', 'SQLITE_READONLY'])
/** errors for which node has only a number */
const ERRNO_NAMES = new Map([[constants.errno.EDQUOT, 'EDQUOT']])
const FAULTY_CODES = new Set(['EIO', 'SQLITE_IOERR'])
/** The process or the machine cannot open more files for now. */
const EXHAUSTED_CODES = new Set(['EMFILE', 'ENFILE'])
/** Messages of native libraries that have no error code. */
const FULL_MESSAGES = /no space left on device|disk quota exceeded|database or disk is full|os error 28\b/i
const READ_ONLY_MESSAGES = /read-only file system|os error 30\b/i

/**
 * Converts an error of a disk to one of the contract, wherever bytes are written: `storage-full` without space,
 * `unavailable` for a read-only or faulty disk, or too many open files.
 *
 * @returns `undefined` for any other error, and for one that is already of the contract
 */
export function toDiskError(error: unknown): KsError | undefined {
  if (!(error instanceof Error) || error instanceof KsError) return undefined
  const code = getErrorCode(error)
  if (hasCode(FULL_CODES, code) || FULL_MESSAGES.test(error.message))
    return new KsError('storage-full', 'the disk of the data directory is full', { cause: error })
  if (isReadOnlyDisk(error))
    return new KsError('unavailable', 'the disk of the data directory is read-only', { cause: error })
  if (hasCode(FAULTY_CODES, code))
    return new KsError('unavailable', 'the disk of the data directory reported an error', { cause: error })
  if (hasCode(EXHAUSTED_CODES, code))
    return new KsError('unavailable', 'too many files are open at the moment', { cause: error })
  return undefined
}

/** Whether an error means that the disk is full, as an error of the disk or of the contract. */
export function isStorageFull(error: unknown): boolean {
  return (error instanceof KsError ? error : toDiskError(error))?.code === 'storage-full'
}

/** Whether an error means that the disk is read-only, which says nothing about its content. */
export function isReadOnlyDisk(error: unknown): boolean {
  return (
    error instanceof Error && (hasCode(READ_ONLY_CODES, getErrorCode(error)) || READ_ONLY_MESSAGES.test(error.message))
  )
}

/** Runs work that writes to the disk; converts errors of the disk to those of the contract. */
export async function withDiskErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw toDiskError(error) ?? error
  }
}

function getErrorCode(error: Error): string {
  if ('errno' in error && typeof error.errno === 'number') {
    const name = ERRNO_NAMES.get(-error.errno)
    if (name !== undefined) return name
  }
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** SQLite extends its codes, such as SQLITE_IOERR_WRITE. */
function hasCode(codes: ReadonlySet<string>, code: string): boolean {
  return codes.has(code) || codes.has(code.split('_').slice(0, 2).join('_'))
}
