import type { ChildProcess } from 'node:child_process'

/** Ends a process that leads a group, with all of its group. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    child.kill('SIGKILL') // Windows has no groups; elsewhere it has ended
  }
}
