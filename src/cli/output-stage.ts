import type { CommonOptions } from './common-options.js'
import type { OutStream } from './output.js'

/** What is between a command and the terminal: nothing, a filter or a pager. */
export interface OutputStage {
  /** absent: stdout */
  out?: OutStream
  /** absent: stderr */
  err?: OutStream
  /** Flushes the output. @param isSuccess false after a failure, whose output is not JSON to filter */
  end(isSuccess: boolean): Promise<void>
}

export const DIRECT_OUTPUT: OutputStage = { end: () => Promise.resolve() }

/**
 * Loads the filter of `--jq` and `--template`, or the pager; most commands need neither.
 *
 * @param isPaged whether the command prints once and may print more than a screen
 */
export async function openOutputStage({ filter, pager }: CommonOptions, isPaged: boolean): Promise<OutputStage> {
  if (filter !== undefined) {
    const { FilteredOutput } = await import('./filter.js')
    const out = new FilteredOutput(filter, process.stdout)
    return { out, end: async (isSuccess) => (isSuccess ? await out.end() : undefined) }
  }
  if (!isPaged || !pager || process.stdout.isTTY !== true) return DIRECT_OUTPUT
  const { PagedOutput, findPager } = await import('./pager.js')
  const program = findPager(process.env)
  if (program === undefined) return DIRECT_OUTPUT
  const out = new PagedOutput(program, process.stdout)
  // Notes on stderr are printed after the paged output.
  const deferred = { write: (text: string) => out.later(text), isTTY: true, columns: process.stderr.columns }
  return { out, ...(process.stderr.isTTY ? { err: deferred } : {}), end: () => out.end() }
}
