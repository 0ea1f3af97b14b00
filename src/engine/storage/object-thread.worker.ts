import { createHash } from 'node:crypto'
import { closeSync, fstatSync, lstatSync, readSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { ignoreMissing } from '../../local/file-system.js'
import { openInside } from '../../local/open-inside.js'
import type { Measured, MeasureReply, MeasureRequest } from './object-thread.js'

/** Entry of the thread that measures objects; see object-thread.ts. */

const piece = Buffer.allocUnsafeSlow(256 * 1024)

function measure(path: string, realRoot: string): Measured {
  try {
    const found = lstatSync(path)
    return { size: found.size, sha256: hashOf(path, realRoot), modifiedAt: found.mtimeMs }
  } catch (error) {
    try {
      return ignoreMissing(error)
    } catch (unreadable) {
      return { error: String(unreadable) }
    }
  }
}

function hashOf(path: string, realRoot: string): string {
  const fd = openInside(path, realRoot)
  try {
    const hash = createHash('sha256')
    // a read may return fewer bytes than requested before the end
    for (let left = fstatSync(fd).size; left > 0; ) {
      const count = readSync(fd, piece, 0, Math.min(left, piece.length), null)
      if (count === 0) break
      hash.update(piece.subarray(0, count))
      left -= count
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
