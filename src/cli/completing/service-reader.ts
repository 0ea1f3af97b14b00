import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { readDaemonFile } from '../../local/daemon-file.js'
import { resolveDataLayout } from '../../local/layout.js'
import { readIfExists } from '../../local/private-file.js'
import type { ConfiguredService } from '../contexts.js'

const HEAD_END = '\r\n\r\n'
const INSTANCE_HEADER = /^x-ks-instance: *(\S+) *$/im

/** Reads from a service with as little code as possible: loading code delays every completion. */
export interface ServiceReader {
  /** Requests a path of the API. @returns the parsed JSON @throws if the reply is not a success */
  get(path: string): Promise<unknown>
  close(): void
}

/**
 * Opens a reader for the configured service. Does not start a local daemon.
 *
 * @param token replaces the token of `ks`
 * @returns undefined without a running daemon or a token
 */
export async function openServiceReader(
  service: ConfiguredService,
  token?: string,
): Promise<ServiceReader | undefined> {
  if (service.kind === 'remote') {
    const effectiveToken = token ?? service.token
    return effectiveToken === undefined
      ? undefined
      : await createNetworkReader({ url: service.url, token: effectiveToken })
  }
  const layout = resolveDataLayout(service.dataDir)
  const file = readDaemonFile(layout.daemonFile)
  if (file === undefined) return undefined
  const effectiveToken = token ?? service.token ?? readIfExists(layout.cliToken)?.trim()
  if (effectiveToken === undefined) return undefined
  // The socket is in a folder that only this user can write: its listener is this daemon or a successor.
  if (file.socket !== undefined) return createSocketReader(file.socket, effectiveToken, file.instance)
  const { findDaemon } = await import('../../client/local-daemon.js')
  const target = (await findDaemon(service.dataDir))?.target
  return target === undefined ? undefined : await createNetworkReader({ ...target, token: effectiveToken })
}

/** Uses a new connection for each request. */
function createSocketReader(socketPath: string, token: string, instance: string): ServiceReader {
  const openSockets = new Set<Socket>()
  return {
    close: () => {
      for (const socket of openSockets) socket.destroy()
    },
    get: async (path) => {
      // HTTP/1.0: the reply ends with the connection, so no chunked encoding has to be decoded.
      const request = `GET ${path} HTTP/1.0\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n\r\n`
      const { status, instanceId, body } = await sendRequest(socketPath, request, openSockets)
      if (instanceId !== instance) throw new Error('another daemon answers')
      return parseBody(status, body)
    },
  }
}

interface SocketReply {
  status: number
  /** Instance id of the daemon that replied. */
  instanceId: string | undefined
  body: string
}

/** Uses `node:net` only: loading `node:http` takes longer than the daemon's reply. */
async function sendRequest(socketPath: string, request: string, openSockets: Set<Socket>): Promise<SocketReply> {
  // An import would load the ES module loader, which takes longer than the reply.
  const { connect } = process.getBuiltinModule('node:net')
  const chunks: Buffer[] = []
  const socket = connect(socketPath)
  openSockets.add(socket)
  await new Promise<void>((resolve, reject) => {
    socket
      .on('data', (chunk: Buffer) => void chunks.push(chunk))
      .on('end', resolve)
      .on('error', reject)
    socket.write(request)
  })
  openSockets.delete(socket)
  const reply = Buffer.concat(chunks)
  const headEnd = reply.indexOf(HEAD_END)
  const head = reply.toString('latin1', 0, Math.max(0, headEnd))
  const body = reply.toString('utf8', headEnd + HEAD_END.length)
  return { status: Number(/^HTTP\/1\.\d (\d{3})/.exec(head)?.[1]), instanceId: INSTANCE_HEADER.exec(head)?.[1], body }
}

async function createNetworkReader(target: { url: string; token: string }): Promise<ServiceReader> {
  const { Client } = await import('../../client/client.js')
  const client = new Client(target)
  return {
    close: () => client.close(),
    get: async (path) => await readJson((await client.sendRaw({ method: 'GET', path })).body),
  }
}

async function readJson(response: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return parseBody(response.statusCode, Buffer.concat(chunks).toString('utf8'))
}

/** Parses the body of a successful reply; a truncated body is invalid JSON and throws. */
function parseBody(status: number | undefined, body: string): unknown {
  if (status !== 200) throw new Error(`status ${status}`)
  return JSON.parse(body)
}
