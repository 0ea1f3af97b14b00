import type { Output } from '../output.js'
import { Progress } from '../progress.js'

/** Shows on stderr how many of a total are done. */
export function showCountProgress(
  out: Output,
  label: string,
): { update(done: number, total: number): void; end(): void } {
  let line = ''
  const view = () => ({ lines: [line], plain: line })
  const progress = new Progress({
    stream: process.stderr,
    live: out.isErrTerminal,
    width: process.stderr.columns || 80,
    view,
  })
  if (!out.isQuiet) progress.start()
  return {
    update: (done, total) => {
      line = `${done} of ${total} ${label}`
    },
    end: () => progress.stop(),
  }
}
