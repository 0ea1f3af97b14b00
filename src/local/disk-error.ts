import { constants } from 'node:os'
import { KsError } from '../contract/errors.js'

/** No room, a quota of the file system, a limit of the process for one file, no inodes. */
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'SQLITE_FULL'])
const READ_ONLY = new Set(['EROFS', 'SQLITE_READONLY'])
/** what node has no name for and tells by its number alone */
const NAMES = new Map([[constants.errno.EDQUOT, 'EDQUOT']])
const FAULTY = new Set(['EIO', 'SQLITE_IOERR'])
/** The process, or the machine, may open no more files for now. */
const EXHAUSTED = new Set(['EMFILE', 'ENFILE'])
/** What native libraries say where only their words arrive. */
const FULL_WORDS = /no space left on device|disk quota exceeded|database or disk is full|os error 28\b/i
const READ_ONLY_WORDS = /read-only file system|os error 30\b/i

/**
 * The failure of the contract for what a disk refused, wherever bytes are written: `storage-full` where there is no room,
 * `unavailable` where it is read-only or faulty, or no more files may be opened.
 *
 * @returns nothing for an error that says something else, or that is one of the contract already
 */
export function diskError(error: unknown): KsError | undefined {
  if (!(error instanceof Error) || error instanceof KsError) return undefined
  const code = codeOf(error)
  if (isOneOf(FULL, code) || FULL_WORDS.test(error.message))
    return new KsError('storage-full', 'the disk of the data directory is full', { cause: error })
  if (isReadOnlyDisk(error))
    return new KsError('unavailable', 'the disk of the data directory is read-only', { cause: error })
  if (isOneOf(FAULTY, code))
    return new KsError('unavailable', 'the disk of the data directory reported an error', { cause: error })
  if (isOneOf(EXHAUSTED, code))
    return new KsError('unavailable', 'too many files are open at the moment', { cause: error })
  return undefined
}

/** Whether a failure says that the disk has no room, as the disk told it or as one of the contract. */
export function isStorageFull(error: unknown): boolean {
  return (error instanceof KsError ? error : diskError(error))?.code === 'storage-full'
}

/** Whether a failure says that the disk is read-only: it says nothing of what stands there. */
export function isReadOnlyDisk(error: unknown): boolean {
  return error instanceof Error && (isOneOf(READ_ONLY, codeOf(error)) || READ_ONLY_WORDS.test(error.message))
}

/** Runs what writes to the disk; what the disk refuses comes as the failure of the contract. */
export async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw diskError(error) ?? error
  }
}

function codeOf(error: Error): string {
  if ('errno' in error && typeof error.errno === 'number') {
    const name = NAMES.get(-error.errno)
    if (name !== undefined) return name
  }
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** Codes of SQLite may be extended, as SQLITE_IOERR_WRITE is. */
function isOneOf(codes: ReadonlySet<string>, code: string): boolean {
  return codes.has(code) || codes.has(code.split('_').slice(0, 2).join('_'))
}
