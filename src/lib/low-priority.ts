import { getPriority, setPriority } from 'node:os'

/** Default of `nice`: next to foreground work, the process gets about a tenth of a busy processor. */
const LOW_PRIORITY = 10

/** Lowers the priority of a child process that works in the background. */
export function lowerPriority(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    if (getPriority(pid) < LOW_PRIORITY) setPriority(pid, LOW_PRIORITY)
  } catch {
    // The process has exited, or the system forbids the change: it keeps its priority.
  }
}
