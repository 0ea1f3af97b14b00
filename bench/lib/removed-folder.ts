import { rmSync } from 'node:fs'

const TIMEOUT_MS = 30_000
const RETRY_INTERVAL_MS = 100

/**
 * Removes a folder or file, also while helper processes of a killed daemon still create files in it. `maxRetries` of node
 * retries the folder but does not remove new files.
 */
export function removeFolder(path: string): void {
  const deadline = Date.now() + TIMEOUT_MS
  for (;;) {
    try {
      rmSync(path, { recursive: true, force: true })
      return
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if ((code !== 'ENOTEMPTY' && code !== 'EBUSY') || Date.now() > deadline) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_INTERVAL_MS)
    }
  }
}
