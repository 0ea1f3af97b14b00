import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { type FakeOpenAi, type FakeOptions, startFakeOpenAi } from '../../helpers/fake-openai.js'
import type { TestCertificates } from './certificates.js'

/** Numbers of correct responses. */
export interface Faithful {
  type: string
  body: Buffer
  path: string
}

/** Sends something else than the correct response, or nothing. */
export type Play = (response: ServerResponse, faithful: Faithful, request: IncomingMessage) => void | Promise<void>

/** How a provider fails: by its response, or before a request can reach it. */
export type Failure = Play | 'refuses-connections' | 'untrusted-certificate'

/** A provider that answers correctly until a failure is set, at one address for its lifetime. */
export interface FailingProvider {
  url: string
  /** the requests that it received while it failed */
  requests(): number
  fail(how: Failure): Promise<void>
  recover(): Promise<void>
  close(): Promise<void>
}

/** @param certificates for TLS, if given */
export async function startFailingProvider(
  options: FakeOptions,
  certificates?: TestCertificates,
): Promise<FailingProvider> {
  const fake = await startFakeOpenAi(options)
  let play: Play | undefined
  let received = 0
  const sockets = new Set<Socket>()
  const listener = async (request: IncomingMessage, response: ServerResponse) => {
    if (failing) received++
    const current = play
    const faithful = await ask(fake, request).catch(() => undefined)
    if (faithful === undefined) return void response.destroy()
    if (current !== undefined) return await current(response, faithful, request)
    response.writeHead(200, { 'content-type': faithful.type }).end(faithful.body)
  }
  const server =
    certificates === undefined
      ? createServer(listener)
      : createSecureServer({ ...certificates.trusted, keepAlive: true }, listener)
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined)
  })
  server.on('tlsClientError', () => {
    if (failing) received++
  })
  let failing = false
  let port = 0
  const listen = () => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  const stopListening = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      cut()
    })
  await listen()
  port = (server.address() as AddressInfo).port

  return {
    // A certificate is for a host name.
    url: certificates === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`,
    requests: () => received,
    async fail(how) {
      failing = true
      received = 0
      if (how === 'refuses-connections') return await stopListening()
      if (how !== 'untrusted-certificate') {
        play = how
        return
      }
      if (certificates === undefined || !('setSecureContext' in server)) throw new Error('it is not asked over TLS')
      server.setSecureContext(certificates.untrusted)
      cut()
    },
    async recover() {
      failing = false
      play = undefined
      if (certificates !== undefined && 'setSecureContext' in server) server.setSecureContext(certificates.trusted)
      // Requests that still hang from the failure would hang forever.
      cut()
      if (!server.listening) await listen()
    },
    async close() {
      if (server.listening) await stopListening()
      await fake.close()
    },
  }
}

async function ask(fake: FakeOpenAi, request: IncomingMessage): Promise<Faithful> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const { authorization = '', 'content-type': type = '' } = request.headers
  const path = request.url ?? '/'
  const answer = await fetch(`${fake.url}${path}`, {
    method: 'POST',
    headers: { authorization, 'content-type': type },
    body: Buffer.concat(chunks),
  })
  const body = Buffer.from(await answer.arrayBuffer())
  if (!answer.ok) throw new Error(`the stand-in answered with ${answer.status}: ${body}`)
  return { type: answer.headers.get('content-type') ?? '', body, path }
}

/** Sends the start of the correct response, with at least one delta of a stream, then calls `end`. */
export function begun(end: (response: ServerResponse) => void): Play {
  return async (response, { type, body }) => {
    response.writeHead(200, { 'content-type': type, 'transfer-encoding': 'chunked' })
    response.write(body.subarray(0, Math.ceil(body.length / 2)))
    // Flushes the earlier bytes before the next ones.
    await delay(50)
    end(response)
  }
}

/** Sends the correct response a few bytes at a time: it would take many minutes. */
export const drip: Play = async (response, { type, body }) => {
  response.writeHead(200, { 'content-type': type })
  for (let at = 0; at < body.length && !response.destroyed; at++) {
    response.write(body.subarray(at, at + 1))
    await delay(500)
  }
  response.end()
}

/** Sends an endless body as fast as it is read. */
export const endless: Play = async (response, { type }) => {
  response.writeHead(200, { 'content-type': type })
  const piece = Buffer.alloc(1024 * 1024, 'x')
  while (!response.destroyed) {
    if (response.write(piece)) continue
    await new Promise<void>((resolve) => {
      const go = () => {
        response.off('drain', go).off('close', go)
        resolve()
      }
      response.once('drain', go).once('close', go)
    })
  }
}

/** The correct response with some of its text replaced. */
export function changed(change: (text: string) => string): Play {
  return (response, { type, body }) => {
    response.writeHead(200, { 'content-type': type }).end(change(body.toString('utf8')))
  }
}

export function status(code: number, headers: Record<string, string> = {}): Play {
  return (response, _faithful, request) => {
    const quoted = `SECRET-BODY: ${request.headers.authorization}`
    const body = JSON.stringify({ error: { message: quoted, type: 'x', param: null, code: null } })
    response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(body)
  }
}
