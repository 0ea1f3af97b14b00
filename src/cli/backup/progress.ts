import { formatCount } from '../../lib/text/pluralize.js'
import type { Output } from '../output.js'
import { startLineProgress } from '../progress.js'

/** Shows on stderr how many of a total are done: `3 of 14 files` for the label `files`. */
export function showCountProgress(
  out: Output,
  label: string,
): { update(done: number, total: number): void; end(): void } {
  let line = ''
  const progress = startLineProgress(out, () => line)
  return {
    update: (done, total) => {
      line = `${formatCount(done)} of ${formatCount(total)} ${label}`
    },
    end: () => progress.stop(),
  }
}
