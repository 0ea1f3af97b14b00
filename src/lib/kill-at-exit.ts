import type { ChildProcess } from 'node:child_process'

const living = new Map<ChildProcess, () => void>()

/**
 * Ends a child process with this one, whether it listens or not: one that hangs would stay for good.
 *
 * @param kill for a child that has to be ended in another way
 */
export function killAtExit(child: ChildProcess, kill: () => void = () => child.kill('SIGKILL')): void {
  if (child.pid === undefined) return
  if (living.size === 0) process.on('exit', killAll)
  living.set(child, kill)
  child.once('exit', () => {
    living.delete(child)
    if (living.size === 0) process.off('exit', killAll)
  })
}

function killAll(): void {
  for (const kill of living.values()) kill()
}
