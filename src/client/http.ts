import { once } from 'node:events'
import http, { type IncomingMessage, type RequestOptions } from 'node:http'
import { ConnectionError, errnoOf } from './errors.js'
import { createProxyAgent, findProxy } from './proxy.js'

/** Where requests are sent and how they authenticate. */
export interface ServiceTarget {
  /** origin of the service, such as `http://127.0.0.1:7733` */
  url: string
  /** unix socket, used instead of the TCP address of a local daemon */
  socketPath?: string
  token?: string
}

/** Writes a request body in chunks; `write` resolves when the connection takes more. */
export type BodyWriter = (write: (chunk: Uint8Array) => Promise<void>) => Promise<void>

export interface HttpRequest {
  method: string
  /** path and query */
  path: string
  headers?: Record<string, string>
  body?: string | BodyWriter
  signal?: AbortSignal | undefined
  /** idle timeout of the connection, in milliseconds */
  idleMs?: number
}

/** Uploads wait for the disk of the service; streams have a ping every 15 s. */
const IDLE_TIMEOUT_MS = 120_000
/** The requests that `ks ingest` has in flight, and some for polling. */
const MAX_SOCKETS = 8

/** Ends the writing of a body because the response has arrived. */
class RespondedEarly extends Error {}

/** Keep-alive connection pool to one service over node:http, or https if the URL says so; may use a proxy. */
export class Transport {
  readonly target: ServiceTarget
  private readonly isSecure: boolean
  private agent: http.Agent | undefined
  private createRequest: typeof http.request = http.request
  /** proxy of the environment for this target, if any */
  private proxy: URL | undefined

  constructor(target: ServiceTarget) {
    this.target = target
    this.isSecure = target.socketPath === undefined && new URL(target.url).protocol === 'https:'
  }

  /** Sends a request and resolves with the response head. @throws ConnectionError if there is no response */
  async send(request: HttpRequest): Promise<IncomingMessage> {
    await this.openPool()
    const req = this.createRequest(this.options(request))
    req.setTimeout(request.idleMs ?? IDLE_TIMEOUT_MS, () => {
      req.destroy(new ConnectionError('timeout', `${this.describeService()} did not answer in time`))
    })
    req.once('proxyConnect', (proxyResponse: { statusCode: number; statusText: string }) => {
      if (proxyResponse.statusCode === 200) return
      const status = `${proxyResponse.statusCode} ${proxyResponse.statusText}`.trimEnd()
      req.destroy(
        new ConnectionError('unreachable', `cannot reach ${this.describeRoute()} (the proxy answered ${status})`),
      )
    })
    const response = this.waitForResponse(req, request)
    if (typeof request.body === 'function') {
      await this.writeBody(req, request.body, response)
    } else {
      req.end(request.body)
    }
    return await response
  }

  /** Closes the pool and breaks the requests in flight. */
  close(): void {
    this.agent?.destroy()
  }

  /** Name of the service for messages. */
  private describeService(): string {
    return this.target.socketPath === undefined ? this.target.url : 'the local daemon'
  }

  /** Name of the service and its proxy for messages, without the proxy's password. */
  private describeRoute(): string {
    return this.proxy === undefined
      ? this.describeService()
      : `${this.describeService()} through the proxy ${this.proxy.origin}`
  }

  private async openPool(): Promise<void> {
    if (this.agent !== undefined) return
    const options = { keepAlive: true, maxSockets: MAX_SOCKETS }
    this.proxy = this.target.socketPath === undefined ? findProxy(this.target.url) : undefined
    const https = this.isSecure ? await import('node:https') : undefined
    if (https !== undefined) this.createRequest = https.request
    if (this.proxy !== undefined) this.agent = await createProxyAgent(this.proxy, { isTunnel: this.isSecure, options })
    else this.agent = https === undefined ? new http.Agent(options) : new https.Agent(options)
  }

  private options(request: HttpRequest): RequestOptions {
    const url = new URL(this.target.url)
    const headers: Record<string, string> = { accept: 'application/json', ...request.headers }
    if (this.target.token !== undefined) headers.authorization = `Bearer ${this.target.token}`
    if (typeof request.body === 'string') headers['content-length'] = String(Buffer.byteLength(request.body))
    const prefix = url.pathname === '/' ? '' : url.pathname.replace(/\/$/, '')
    const options: RequestOptions = { method: request.method, path: prefix + request.path, headers }
    if (this.agent !== undefined) options.agent = this.agent
    if (request.signal !== undefined) options.signal = request.signal
    if (this.target.socketPath !== undefined) {
      options.socketPath = this.target.socketPath
      headers.host = url.host
    } else {
      options.hostname = url.hostname.replace(/^\[|\]$/g, '')
      if (url.port !== '') options.port = url.port
    }
    return options
  }

  private waitForResponse(req: http.ClientRequest, request: HttpRequest): Promise<IncomingMessage> {
    const response = new Promise<IncomingMessage>((resolve, reject) => {
      req.once('response', resolve)
      req.on('error', (error) => reject(this.toFailure(error, request.signal)))
    })
    // The body may fail before the caller awaits the response.
    response.catch(() => undefined)
    return response
  }

  private toFailure(error: Error, signal: AbortSignal | undefined): Error {
    if (error instanceof ConnectionError) return error
    if (signal?.aborted === true) return signal.reason instanceof Error ? signal.reason : error
    const reason = errnoOf(error) ?? error.message
    return new ConnectionError('unreachable', `cannot reach ${this.describeRoute()} (${reason})`, { cause: error })
  }

  /** Writes the body until it ends or the service responds early, for example to refuse an upload. */
  private async writeBody(
    req: http.ClientRequest,
    body: BodyWriter,
    response: Promise<IncomingMessage>,
  ): Promise<void> {
    let hasResponse = false
    const markResponse = () => {
      hasResponse = true
    }
    const responded = response.then(markResponse, markResponse)
    try {
      await body(async (chunk) => {
        if (hasResponse || req.destroyed) throw new RespondedEarly()
        if (!req.write(chunk)) await Promise.race([once(req, 'drain').catch(() => undefined), responded])
      })
      req.end()
    } catch (error) {
      if (error instanceof RespondedEarly) return
      req.destroy()
      throw error
    }
  }
}

/** Reads a complete response as text. @throws ConnectionError if it breaks off */
export async function readText(response: IncomingMessage): Promise<string> {
  // Concatenated at the end: in a short command a stream decoder costs more than the request.
  const chunks: Buffer[] = []
  for await (const chunk of readChunks(response)) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}

/** The chunks of a response; a broken connection becomes a `ConnectionError`. */
export async function* readChunks(response: IncomingMessage): AsyncGenerator<string | Buffer> {
  try {
    for await (const chunk of response) yield chunk
  } catch (error) {
    if (error instanceof ConnectionError) throw error
    throw new ConnectionError('unreachable', 'the connection broke before the answer was complete', { cause: error })
  }
}
