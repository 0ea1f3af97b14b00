import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { buildCleanEnv } from './daemon.js'

const MAX_STDERR_CHARS = 2_000
const stderrByChild = new WeakMap<ChildProcess, string>()

/** Starts a module as a separate process in a clean environment and waits until it is ready. */
export async function forkModule(module: string, args: string[], home: string): Promise<ChildProcess> {
  const child = fork(fileURLToPath(module), args, {
    env: buildCleanEnv(home),
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderrByChild.set(child, ((stderrByChild.get(child) ?? '') + text).slice(-MAX_STDERR_CHARS))
  })
  await waitForMessage(child)
  return child
}

/** Waits for the next message. @throws Error with the end of its stderr if the process ends first */
export async function waitForMessage(child: ChildProcess): Promise<unknown> {
  const controller = new AbortController()
  const { signal } = controller
  try {
    const [message] = await Promise.race([
      once(child, 'message', { signal }),
      once(child, 'close', { signal }).then(([code]) => {
        throw new Error(`a process of the bench ended with ${code}: ${stderrByChild.get(child) ?? ''}`)
      }),
    ])
    return message
  } finally {
    controller.abort()
  }
}

/** Disconnects from the process, which then ends, and waits for that. */
export async function stopChild(child: ChildProcess): Promise<void> {
  if (child.connected) child.disconnect()
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}
