import { getPriority, setPriority } from 'node:os'

/** As `nice` without a number: beside what somebody waits for, this gets about a tenth of a busy processor. */
const LOW_PRIORITY = 10

/** Lets a child process that works in the background stand back behind what somebody waits for. */
export function lowerPriority(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    if (getPriority(pid) < LOW_PRIORITY) setPriority(pid, LOW_PRIORITY)
  } catch {
    // it has ended already, or the system does not let it be changed: it works as it is
  }
}
