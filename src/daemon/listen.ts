import { once } from 'node:events'
import { chmodSync, readFileSync, rmSync } from 'node:fs'
import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import { KsError } from '../contract/errors.js'
import { toErrorMessage } from '../lib/error-message.js'
import { newId } from '../lib/ids.js'
import { findPortHolder } from '../local/port-holder.js'
import { hasErrorCode } from '../local/private-file.js'
import { isLoopback, type RequestListenerInfo } from './http/guard.js'
import { closeUnreadResponses, serializeRequests } from './http/pipelining.js'
import { createRawErrorReply } from './http/reply.js'
import type { DaemonApp } from './server.js'

export interface ListenOptions {
  /** host:port */
  listen: string
  tls?: { cert: string; key: string }
  insecure: boolean
  /** Use a free port if the configured one is in use. */
  anyPort: boolean
}

export interface TcpServer {
  server: Server
  /** Address for clients of this machine. */
  url: string
}

/** Maximum length of a socket path: 104 bytes on macOS, 108 on Linux, including the final zero. */
const MAX_SOCKET_PATH_BYTES = 100

const SERVER_OPTIONS: ServerOptions = {
  headersTimeout: 30_000,
  requestTimeout: 0, // Large uploads may take any time; stalled or slow bodies are rejected separately.
  keepAliveTimeout: 60_000,
  requireHostHeader: false, // Required, but rejected with our own message.
}

/** @throws KsError `invalid-request` for an address that requires TLS, `unavailable` for one in use */
export async function listenTcp(app: DaemonApp, options: ListenOptions): Promise<TcpServer> {
  const { host, port } = splitAddress(options.listen)
  const loopback = isLoopback(host)
  if (!loopback && options.tls === undefined && !options.insecure)
    throw new KsError(
      'invalid-request',
      `listen ${options.listen} is not a loopback address: set tlsCert and tlsKey, or insecureListen`,
    )
  const listener: RequestListenerInfo = { kind: 'tcp', loopback, secure: options.tls !== undefined }
  const handle = createRequestListener(app, listener)
  const server =
    options.tls === undefined ? createServer(SERVER_OPTIONS, handle) : createHttpsServer(options.tls, handle)
  const bareHost = host.replace(/^\[|\]$/g, '')
  if (!(await tryBind(server, { host: bareHost, port }))) {
    if (!options.anyPort)
      throw new KsError('unavailable', `${options.listen} is already in use by ${describePortHolder(port)}`)
    await tryBind(server, { host: bareHost, port: 0 })
  }
  handleBrokenRequests(server)
  closeUnreadResponses(server)
  return { server, url: `${options.tls ? 'https' : 'http'}://${toReachableHost(host)}:${getBoundPort(server)}` }
}

/**
 * Listens on a unix socket that only this user can open.
 *
 * @returns undefined if the path is too long for a socket, or the platform has none
 */
export async function listenSocket(app: DaemonApp, path: string): Promise<Server | undefined> {
  if (process.platform === 'win32' || Buffer.byteLength(path) > MAX_SOCKET_PATH_BYTES) return undefined
  rmSync(path, { force: true }) // Left over by a killed daemon; the lock proves that it is gone.
  const server = createServer(SERVER_OPTIONS, createRequestListener(app, { kind: 'socket' }))
  await tryBind(server, { path })
  chmodSync(path, 0o600)
  handleBrokenRequests(server)
  closeUnreadResponses(server)
  return server
}

function createHttpsServer(files: { cert: string; key: string }, handle: RequestListener): Server {
  return createTlsServer({ ...SERVER_OPTIONS, cert: readFileSync(files.cert), key: readFileSync(files.key) }, handle)
}

function createRequestListener(app: DaemonApp, listener: RequestListenerInfo): RequestListener {
  const listen = getRequestListener(
    (request, { incoming }) =>
      app.fetch(request, incoming instanceof IncomingMessage ? { incoming, listener } : { listener }),
    { errorHandler: createUnreadableResponse },
  )
  return serializeRequests((incoming, outgoing) => {
    corkHead(outgoing)
    void listen(incoming, outgoing)
  })
}

/** Sends the head of a stream in one packet with its first data, if already available. */
function corkHead(outgoing: ServerResponse): void {
  const flush = outgoing.flushHeaders
  outgoing.flushHeaders = () => {
    outgoing.cork()
    flush.call(outgoing)
    process.nextTick(() => outgoing.uncork())
  }
}

/** The response to a target or Host header that is not a URL, before the application sees the request. */
function createUnreadableResponse(): Response {
  const body = JSON.stringify({ error: 'the request target or the Host header is malformed' })
  const headers = {
    'content-type': 'application/json',
    'x-error-code': 'invalid-request',
    'x-trace-id': newId(),
    'x-content-type-options': 'nosniff',
  }
  return new Response(body, { status: 400, headers })
}

/** @returns false if the port is in use */
async function tryBind(server: Server, address: { host: string; port: number } | { path: string }): Promise<boolean> {
  server.listen(address)
  try {
    await once(server, 'listening')
    return true
  } catch (error) {
    if (hasErrorCode(error, 'EADDRINUSE')) return false
    throw new KsError('unavailable', `the daemon cannot listen: ${toErrorMessage(error)}`, { cause: error })
  }
}

/** Replies to invalid HTTP requests, such as oversized headers, in the format of every other failure. */
function handleBrokenRequests(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
    socket.end(createBrokenRequestReply(error.code))
  })
}

function createBrokenRequestReply(code: string | undefined): string {
  if (code === 'HPE_HEADER_OVERFLOW')
    return createRawErrorReply(431, 'headers-too-large', 'the request headers must be at most 16384 bytes long')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return createRawErrorReply(408, 'request-timeout', 'the request headers took too long to arrive')
  return createRawErrorReply(400, 'invalid-request', 'the request is not valid HTTP')
}

function describePortHolder(port: number): string {
  const holder = findPortHolder(port)
  return holder === undefined ? 'another program' : `${holder.program} (pid ${holder.pid})`
}

function splitAddress(listen: string): { host: string; port: number } {
  const colon = listen.lastIndexOf(':')
  const port = Number(listen.slice(colon + 1))
  if (port > 65_535) throw new KsError('invalid-request', `the port of listen must be at most 65535, received ${port}`)
  return { host: listen.slice(0, colon), port }
}

function getBoundPort(server: Server): number {
  const address: AddressInfo | string | null = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** A loopback address for one that means all interfaces. */
function toReachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '[::]' ? '[::1]' : host
}
