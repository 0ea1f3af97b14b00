import { errnoOf } from '../client/errors.js'
import { toErrorMessage } from '../lib/error-message.js'

/** Why a file or folder cannot be accessed, by error code. */
export const FILE_REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'part of the path is not a folder',
  EISDIR: 'it is a folder',
  ENOENT: 'no such file or folder',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is exceeded',
}

export function getFileReason(error: unknown): string {
  return FILE_REASONS[errnoOf(error) ?? ''] ?? toErrorMessage(error)
}
