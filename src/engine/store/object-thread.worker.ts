import { createHash } from 'node:crypto'
import { closeSync, fstatSync, lstatSync, readSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { ignoreMissing } from '../../local/file-system.js'
import { openInside } from '../../local/open-inside.js'
import type { MeasureReply, MeasureRequest, ObjectMeasureResult } from './object-thread.js'

/** Entry of the thread that measures objects; see object-thread.ts. */

const buffer = Buffer.allocUnsafeSlow(256 * 1024)

function measure(path: string, realRoot: string): ObjectMeasureResult {
  try {
    const found = lstatSync(path)
    return { size: found.size, sha256: hashFileInside(path, realRoot), modifiedAt: found.mtimeMs }
  } catch (error) {
    try {
      return ignoreMissing(error)
    } catch (unreadable) {
      return { error: String(unreadable) }
    }
  }
}

function hashFileInside(path: string, realRoot: string): string {
  const fd = openInside(path, realRoot)
  try {
    const hash = createHash('sha256')
    // a read may return fewer bytes than requested before the end
    for (let remaining = fstatSync(fd).size; remaining > 0; ) {
      const count = readSync(fd, buffer, 0, Math.min(remaining, buffer.length), null)
      if (count === 0) break
      hash.update(buffer.subarray(0, count))
      remaining -= count
    }
    return hash.digest('hex')
  } finally {
    closeSync(fd)
  }
}

parentPort?.on('message', ({ id, realRoot, paths }: MeasureRequest) => {
  const reply: MeasureReply = { id, measured: paths.map((path) => measure(path, realRoot)) }
  parentPort?.postMessage(reply)
})
