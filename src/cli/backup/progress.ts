import type { Output } from '../output.js'
import { Progress } from '../progress.js'

/** Shows on stderr how many of a total are done. */
export function countProgress(out: Output, what: string): { at(done: number, of: number): void; end(): void } {
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
    at: (done, of) => {
      line = `${done} of ${of} ${what}`
    },
    end: () => progress.stop(),
  }
}
