import { rmSync } from 'node:fs'

const PATIENCE_MS = 30_000
const PAUSE_MS = 100

/**
 * Removes a folder whose programs have ended or were killed, or the file of that name; nothing there is no error.
 *
 * A helper process of a killed daemon ends at its next step and may make a file until then. `maxRetries` of node does not
 * help with that: it tries the empty folder again, and never looks at what came into it.
 */
export function removeFolder(path: string): void {
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    try {
      rmSync(path, { recursive: true, force: true })
      return
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if ((code !== 'ENOTEMPTY' && code !== 'EBUSY') || Date.now() > deadline) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
    }
  }
}
