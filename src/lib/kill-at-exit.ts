import type { ChildProcess } from 'node:child_process'

const killByChild = new Map<ChildProcess, () => void>()

/**
 * Kills a child process when this process exits, even if the child hangs.
 *
 * @param kill for a child that needs another way to be killed
 */
export function killAtExit(child: ChildProcess, kill: () => void = () => child.kill('SIGKILL')): void {
  if (child.pid === undefined) return
  if (killByChild.size === 0) process.on('exit', killAll)
  killByChild.set(child, kill)
  child.once('exit', () => {
    killByChild.delete(child)
    if (killByChild.size === 0) process.off('exit', killAll)
  })
}

function killAll(): void {
  for (const kill of killByChild.values()) kill()
}
