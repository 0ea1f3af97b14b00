import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { cleanEnv } from './daemon.js'

/** Starts a module as a process of its own, with a clean environment whose home is `home`, and waits until it is ready. */
export async function startForked(module: string, args: string[], home: string): Promise<ChildProcess> {
  const child = fork(fileURLToPath(module), args, { env: cleanEnv(home) })
  await once(child, 'message')
  return child
}

/** Lets it end, which it does when nobody speaks to it any more, and waits for that. */
export async function stopForked(child: ChildProcess): Promise<void> {
  child.disconnect()
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}
