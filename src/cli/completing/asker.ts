import type { IncomingMessage } from 'node:http'
import { readDaemonFile } from '../../local/daemon-file.js'
import { dataLayout } from '../../local/layout.js'
import { readIfExists } from '../../local/private-file.js'
import type { Place } from '../contexts.js'

/** questions that a daemon is asked side by side */
const MOST_AT_ONCE = 4

/** Reads of a service, over as little code as can be: who presses Tab waits for all of it. */
export interface Asker {
  /** @throws where there is no good answer */
  get(path: string): Promise<unknown>
  close(): void
}

/**
 * The service that settings point at; a local daemon that does not run is not started.
 *
 * @param token in place of that of `ks`
 */
export async function askerOf(place: Place, token?: string): Promise<Asker | undefined> {
  if (place.kind === 'remote') {
    const own = token ?? place.token
    return own === undefined ? undefined : await overNetwork({ url: place.url, token: own })
  }
  const layout = dataLayout(place.dataDir)
  const file = readDaemonFile(layout.daemonFile)
  if (file === undefined) return undefined
  const own = token ?? place.token ?? readIfExists(layout.cliToken)?.trim()
  if (own === undefined) return undefined
  // who listens on a socket in a folder of this user's alone is the daemon, or one that came after it
  if (file.socket !== undefined) return overSocket(file.socket, own, file.instance)
  const { findDaemon } = await import('../../client/local-daemon.js')
  const target = (await findDaemon(place.dataDir))?.target
  return target === undefined ? undefined : await overNetwork({ ...target, token: own })
}

/** One that connects when it is first asked: a kept answer needs none. */
export function lazily(open: () => Promise<Asker | undefined>): Asker {
  let opened: Promise<Asker | undefined> | undefined
  return {
    get: async (path) => {
      opened ??= open()
      const asker = await opened
      if (asker === undefined) throw new Error('nobody answers')
      return await asker.get(path)
    },
    close: () => void opened?.then((asker) => asker?.close()).catch(() => undefined),
  }
}

function overSocket(socketPath: string, token: string, instance: string): Asker {
  // an import would load the loader of ES modules, which takes longer than the answer
  const { Agent, get } = process.getBuiltinModule('node:http')
  const agent = new Agent({ keepAlive: true, maxSockets: MOST_AT_ONCE })
  const headers = { host: 'localhost', authorization: `Bearer ${token}` }
  return {
    close: () => agent.destroy(),
    get: async (path) => {
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        get({ socketPath, path, headers, agent }, resolve).on('error', reject)
      })
      if (answer.headers['x-ks-instance'] !== instance) throw new Error('another daemon answers')
      return await jsonOf(answer)
    },
  }
}

async function overNetwork(target: { url: string; token: string }): Promise<Asker> {
  const { Client } = await import('../../client/client.js')
  const client = new Client(target)
  return {
    close: () => client.close(),
    get: async (path) => await jsonOf((await client.raw({ method: 'GET', path })).body),
  }
}

async function jsonOf(answer: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk)
  if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`)
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}
