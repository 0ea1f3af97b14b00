import type { Output } from './output.js'
import { startLineProgress } from './progress.js'
import { poll } from './wait.js'

/** Waits until work of the service has ended and shows its progress. @param load loads the current state */
export async function followWork<Work extends { completedAt?: string | undefined }>(
  out: Output,
  initial: Work,
  { formatLine, load }: { formatLine: (current: Work) => string; load: () => Promise<Work> },
  signal: AbortSignal,
): Promise<Work> {
  let current = initial
  const loadEnded = async () => {
    current = await load()
    return current.completedAt === undefined ? undefined : current
  }
  const progress = startLineProgress(out, () => formatLine(current), out.width)
  try {
    return await poll(loadEnded, signal)
  } finally {
    progress.stop()
  }
}
