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

/** Waits until work of the service has ended and shows its progress. @param ask loads the current state */
export function followWork<Work extends { completedAt?: string | undefined }>(
  out: Output,
  begun: Work,
  lineOf: (now: Work) => string,
  ask: () => Promise<Work>,
  signal: AbortSignal,
): Promise<Work> {
  let now = begun
  const ended = async () => {
    now = await ask()
    return now.completedAt === undefined ? undefined : now
  }
  const line = () => lineOf(now)
  return withProgressLine(out, line, () => poll(ended, signal))
}
