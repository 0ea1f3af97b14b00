import type { ChildProcess } from 'node:child_process'

const living = new Map<ChildProcess, () => void>()

/**
 * Kills a child process when this process exits, even if the child hangs.
 *
 * @param kill for a child that needs another way to be killed
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
