import { isCode, readIfExists } from '../private-file.js'

/** The other process that wrote its id to a file and still lives; nothing where there is none, or it was killed. */
export function livingHolder(path: string): number | undefined {
  const pid = Number(readIfExists(path)?.trim())
  if (!Number.isSafeInteger(pid) || pid <= 0 || pid === process.pid) return undefined
  try {
    process.kill(pid, 0)
    return pid
  } catch (error) {
    // it lives and is of another user
    return isCode(error, 'EPERM') ? pid : undefined
  }
}
