import { hasErrorCode, readIfExists } from '../private-file.js'

/** The process id in a file, if another process that has not ended wrote it. */
export function findLivingHolder(path: string): number | undefined {
  const pid = Number(readIfExists(path)?.trim())
  if (!Number.isSafeInteger(pid) || pid <= 0 || pid === process.pid) return undefined
  try {
    process.kill(pid, 0)
    return pid
  } catch (error) {
    // EPERM: it lives and belongs to another user.
    return hasErrorCode(error, 'EPERM') ? pid : undefined
  }
}
