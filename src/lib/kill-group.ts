import type { ChildProcess } from 'node:child_process'

/** Kills a process that leads a process group, with its group. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    child.kill('SIGKILL') // Windows has no groups; elsewhere the process has already exited.
  }
}
