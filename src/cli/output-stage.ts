import type { CommonOptions } from './common-options.js'
import type { OutStream } from './output.js'

/** The streams of a command: stdout and stderr, or a filter or pager before them. */
export interface OutputStage {
  /** Absent: stdout. */
  out?: OutStream
  /** Absent: stderr. */
  err?: OutStream
  /** Flushes the output. A filter drops the output of a command that has failed: it may be incomplete JSON. */
  end(outcome: { hasFailed: boolean }): Promise<void>
}

export const DIRECT_OUTPUT: OutputStage = { end: () => Promise.resolve() }

/**
 * Loads the filter of `--jq` and `--template`, or the pager; most commands need neither.
 *
 * @param isPaged whether the command prints once and may print more than a screen
 */
export async function openOutputStage(
  { filter, pager }: CommonOptions,
  { isPaged }: { isPaged: boolean },
): Promise<OutputStage> {
  if (filter !== undefined) {
    const { FilteredOutput } = await import('./filter.js')
    const out = new FilteredOutput(filter, process.stdout)
    return { out, end: async ({ hasFailed }) => (hasFailed ? undefined : await out.end()) }
  }
  if (!isPaged || !pager || process.stdout.isTTY !== true) return DIRECT_OUTPUT
  const { PagedOutput, findPager } = await import('./pager.js')
  const program = findPager(process.env)
  if (program === undefined) return DIRECT_OUTPUT
  const out = new PagedOutput(program, process.stdout)
  // Notes on stderr are printed after the paged output.
  const deferred = { write: (text: string) => out.deferNote(text), isTTY: true, columns: process.stderr.columns }
  return { out, ...(process.stderr.isTTY ? { err: deferred } : {}), end: () => out.end() }
}
