import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { readDaemonFile } from '../../local/daemon-file.js'
import { dataLayout } from '../../local/layout.js'
import { readIfExists } from '../../local/private-file.js'
import type { Place } from '../contexts.js'

const HEAD_ENDS = '\r\n\r\n'
const INSTANCE = /^x-ks-instance: *(\S+) *$/im

/** Reads from a service with as little code as possible: loading code delays every completion. */
export interface Asker {
  /** @throws if the reply is not a success */
  get(path: string): Promise<unknown>
  close(): void
}

/**
 * Opens a reader for the configured service. Does not start a local daemon.
 *
 * @param token replaces the token of `ks`
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
  // The socket is in a folder that only this user can write: its listener is this daemon or a successor.
  if (file.socket !== undefined) return overSocket(file.socket, own, file.instance)
  const { findDaemon } = await import('../../client/local-daemon.js')
  const target = (await findDaemon(place.dataDir))?.target
  return target === undefined ? undefined : await overNetwork({ ...target, token: own })
}

/** Connects at the first read: cached answers need no connection. */
export function lazily(open: () => Promise<Asker | undefined>): Asker {
  let opened: Promise<Asker | undefined> | undefined
  return {
    get: async (path) => {
      opened ??= open()
      const asker = await opened
      if (asker === undefined) throw new Error('the service is not reachable')
      return await asker.get(path)
    },
    close: () => void opened?.then((asker) => asker?.close()).catch(() => undefined),
  }
}

/** Uses a new connection for each request. */
function overSocket(socketPath: string, token: string, instance: string): Asker {
  const open = new Set<Socket>()
  return {
    close: () => {
      for (const socket of open) socket.destroy()
    },
    get: async (path) => {
      const { status, answeredBy, body } = await asked(socketPath, questionOf(path, token), open)
      if (answeredBy !== instance) throw new Error('another daemon answers')
      return parsed(status, body)
    },
  }
}

/** HTTP/1.0: the reply ends with the connection, so no chunked encoding has to be decoded. */
function questionOf(path: string, token: string): string {
  return `GET ${path} HTTP/1.0\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n\r\n`
}

interface Answered {
  status: number
  /** Instance id of the daemon that replied. */
  answeredBy: string | undefined
  body: string
}

/** Uses `node:net` only: loading `node:http` takes longer than the daemon's reply. */
async function asked(socketPath: string, question: string, open: Set<Socket>): Promise<Answered> {
  // An import would load the ES module loader, which takes longer than the reply.
  const { connect } = process.getBuiltinModule('node:net')
  const chunks: Buffer[] = []
  const socket = connect(socketPath)
  open.add(socket)
  await new Promise<void>((resolve, reject) => {
    socket
      .on('data', (chunk: Buffer) => void chunks.push(chunk))
      .on('end', resolve)
      .on('error', reject)
    socket.write(question)
  })
  open.delete(socket)
  const whole = Buffer.concat(chunks)
  const ends = whole.indexOf(HEAD_ENDS)
  const head = whole.toString('latin1', 0, Math.max(0, ends))
  const body = whole.toString('utf8', ends + HEAD_ENDS.length)
  return { status: Number(/^HTTP\/1\.\d (\d{3})/.exec(head)?.[1]), answeredBy: INSTANCE.exec(head)?.[1], body }
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
  return parsed(answer.statusCode, Buffer.concat(chunks).toString('utf8'))
}

/** Parses the body of a successful reply; a truncated body is invalid JSON and throws. */
function parsed(status: number | undefined, body: string): unknown {
  if (status !== 200) throw new Error(`status ${status}`)
  return JSON.parse(body)
}
