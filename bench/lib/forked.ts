import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { cleanEnv } from './daemon.js'

const COMPLAINTS = 2_000
const complaints = new WeakMap<ChildProcess, string>()

/**
 * Starts a module as a process of its own, with a clean environment whose home is `home`, and waits until it is ready.
 * What it complains of is shown when it fails.
 */
export async function startForked(module: string, args: string[], home: string): Promise<ChildProcess> {
  const child = fork(fileURLToPath(module), args, {
    env: cleanEnv(home),
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaints.set(child, ((complaints.get(child) ?? '') + text).slice(-COMPLAINTS))
  })
  await answerOf(child)
  return child
}

/** Its next message. @throws Error when it ends before */
export async function answerOf(child: ChildProcess): Promise<unknown> {
  const over = new AbortController()
  const { signal } = over
  try {
    const [message] = await Promise.race([
      once(child, 'message', { signal }),
      once(child, 'close', { signal }).then(([code]) => {
        throw new Error(`a process of the bench ended with ${code}: ${complaints.get(child) ?? ''}`)
      }),
    ])
    return message
  } finally {
    over.abort()
  }
}

/** Lets it end, which it does when nobody speaks to it any more, and waits for that. */
export async function stopForked(child: ChildProcess): Promise<void> {
  if (child.connected) child.disconnect()
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}
