import type { Output } from '../output.js'
import { Progress } from '../progress.js'
import { formatBytes } from '../units.js'

/** Shows on stderr how many bytes are done, with the total if it is known. */
export function showByteProgress(
  out: Output,
  label: string,
  total?: number,
): { add(count: number): void; end(): void } {
  let done = 0
  const view = () => {
    const line = `${formatBytes(done)}${total === undefined ? '' : ` of ${formatBytes(total)}`} ${label}`
    return { lines: [line], plain: line }
  }
  const { isErrTerminal: live } = out
  const progress = new Progress({ stream: process.stderr, live, width: process.stderr.columns || 80, view })
  if (!out.isQuiet) progress.start()
  return {
    add: (count) => {
      done += count
    },
    end: () => progress.stop(),
  }
}
