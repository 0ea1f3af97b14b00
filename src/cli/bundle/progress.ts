import type { Output } from '../output.js'
import { startLineProgress } from '../progress.js'
import { formatBytes } from '../units.js'

/** Shows on stderr how many bytes are done, with the total if it is known. */
export function showByteProgress(
  out: Output,
  label: string,
  totalBytes?: number,
): { add(byteCount: number): void; end(): void } {
  let doneBytes = 0
  const total = totalBytes === undefined ? '' : ` of ${formatBytes(totalBytes)}`
  const progress = startLineProgress(out, () => `${formatBytes(doneBytes)}${total} ${label}`)
  return {
    add: (byteCount) => {
      doneBytes += byteCount
    },
    end: () => progress.stop(),
  }
}
