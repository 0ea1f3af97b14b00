import type { Output } from './output.js'
import { Progress } from './progress.js'
import { poll } from './wait.js'

/** Shows a line on stderr while work runs, unless the command is quiet. */
export async function withProgressLine<T>(out: Output, line: () => string, work: () => Promise<T>): Promise<T> {
  const view = () => ({ lines: [line()], plain: line() })
  const live = out.isErrTerminal && !out.isQuiet
  const progress = new Progress({ stream: process.stderr, live, width: out.width, view })
  if (!out.isQuiet) progress.start()
  try {
    return await work()
  } finally {
    if (!out.isQuiet) progress.stop()
  }
}

/** Waits until work of the service has ended and shows its progress. @param load loads the current state */
export function followWork<Work extends { completedAt?: string | undefined }>(
  out: Output,
  initial: Work,
  { formatLine, load }: { formatLine: (current: Work) => string; load: () => Promise<Work> },
  signal: AbortSignal,
): Promise<Work> {
  let current = initial
  const checkEnded = async () => {
    current = await load()
    return current.completedAt === undefined ? undefined : current
  }
  const line = () => formatLine(current)
  return withProgressLine(out, line, () => poll(checkEnded, signal))
}
