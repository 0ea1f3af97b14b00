import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseRecord } from '../lib/json/values.js'
import { ApiError, ConnectionError, codeOfStatus } from './errors.js'
import { type HttpRequest, readText, type ServiceTarget, Transport } from './http.js'
import type { UploadPart } from './multipart.js'
import { type CallInput, type CallResult, type RouteKey, toRequestLine, type UntypedCallInput } from './routes.js'
import type { ServerEvent } from './sse.js'

export interface ClientOptions {
  signal?: AbortSignal
  /** called for `--debug` with each request line and its status, never with a token */
  onExchange?: (line: string) => void
}

export interface StreamResponse {
  /** response headers, names in lower case */
  headers: IncomingMessage['headers']
  events: AsyncGenerator<ServerEvent>
}

/** A response whose shape the caller does not know: `ks api`. */
export interface RawResponse {
  status: number
  headers: IncomingMessage['headers']
  body: IncomingMessage
}

/** Pauses before the retries of a read. It is retried when no response came or when `Retry-After` is short. */
const RETRY_PAUSES_MS = [100, 400]
const MAX_RETRY_AFTER_S = 5

/** Typed client of one service. Calls are named by method and path; the types come from the contract. */
export class Client {
  readonly transport: Transport
  private readonly options: ClientOptions
  /** version of the service, known after the first response */
  serverVersion: string | undefined

  constructor(target: ServiceTarget, options: ClientOptions = {}) {
    this.transport = new Transport(target)
    this.options = options
  }

  /** Calls an operation and reads its JSON. @throws ApiError, ConnectionError */
  async request<K extends RouteKey>(key: K, input: CallInput<K> & object): Promise<CallResult<K>> {
    const response = await this.call(key, input)
    // The contract gives the type; the service validates its responses in its own tests.
    return JSON.parse((await readText(response)) || 'null')
  }

  /** Calls an operation that responds with server-sent events. */
  async stream<K extends RouteKey>(
    key: K,
    input: CallInput<K> & object & { signal?: AbortSignal },
  ): Promise<StreamResponse> {
    const response = await this.call(key, input, { accept: 'text/event-stream' })
    const { readServerEvents } = await import('./sse.js')
    return { headers: response.headers, events: readServerEvents(response) }
  }

  /** Calls an operation that responds with bytes. */
  async download<K extends RouteKey>(key: K, input: CallInput<K> & object): Promise<IncomingMessage> {
    return await this.call(key, input, { accept: '*/*' })
  }

  /** Streams files to an upload operation. @throws ApiError, ConnectionError, UploadReadError */
  async upload<K extends RouteKey>(
    key: K,
    input: CallInput<K> &
      object & { field: 'file' | 'files'; files: UploadPart[]; fields?: Record<string, string>; signal?: AbortSignal },
    onBytes?: (bytes: number) => void,
  ): Promise<CallResult<K>> {
    const { buildMultipartBody } = await import('./multipart.js')
    const { contentType, length, body } = buildMultipartBody(input.field, input.files, input.fields, onBytes)
    const headers: Record<string, string> = { 'content-type': contentType }
    if (length !== undefined) headers['content-length'] = String(length)
    const response = await this.sendWithRetry({ ...toRequestLine(key, input), headers, body, signal: input.signal })
    return JSON.parse(await readText(response))
  }

  /** Sends any request and returns the response of any status. */
  async sendRaw(request: HttpRequest): Promise<RawResponse> {
    const response = await this.send(request)
    return { status: response.statusCode ?? 0, headers: response.headers, body: response }
  }

  close(): void {
    this.transport.close()
  }

  private async call(key: RouteKey, input: object, headers: Record<string, string> = {}): Promise<IncomingMessage> {
    const untyped: UntypedCallInput = input
    const request: HttpRequest = { ...toRequestLine(key, untyped), headers, signal: untyped.signal }
    if (untyped.body !== undefined) {
      request.body = JSON.stringify(untyped.body)
      request.headers = { ...headers, 'content-type': 'application/json' }
    }
    return await this.sendWithRetry(request)
  }

  /** Sends one request. A GET is retried when no response came or the service asks for a short wait. */
  private async sendWithRetry(request: HttpRequest): Promise<IncomingMessage> {
    for (let attempt = 0; ; attempt++) {
      const pauseMs = request.method === 'GET' ? RETRY_PAUSES_MS[attempt] : undefined
      try {
        const response = await this.send(request)
        if ((response.statusCode ?? 0) < 400) return response
        throw await toApiError(response)
      } catch (error) {
        if (pauseMs === undefined || !isRetryable(error)) throw error
        const requestedMs = error instanceof ApiError ? (error.retryAfter ?? 0) * 1000 : 0
        await sleep(Math.max(pauseMs, requestedMs), undefined, { signal: this.options.signal })
      }
    }
  }

  private async send(request: HttpRequest): Promise<IncomingMessage> {
    const startedMs = performance.now()
    const signal = request.signal ?? this.options.signal
    const response = await this.transport.send(signal === undefined ? request : { ...request, signal })
    const version = response.headers['x-ks-version']
    if (typeof version === 'string') this.serverVersion = version
    const elapsedMs = Math.round(performance.now() - startedMs)
    const trace = response.headers['x-trace-id'] ?? '-'
    this.options.onExchange?.(`${request.method} ${request.path} ${response.statusCode} ${elapsedMs} ms trace ${trace}`)
    return response
  }
}

function isRetryable(error: unknown): boolean {
  if (error instanceof ConnectionError) return error.code === 'unreachable'
  if (!(error instanceof ApiError)) return false
  return (error.status === 429 || error.status === 503) && (error.retryAfter ?? Infinity) <= MAX_RETRY_AFTER_S
}

/** Reads a response of status 400 or above into an error with the service's own message. */
export async function toApiError(response: IncomingMessage): Promise<ApiError> {
  const status = response.statusCode ?? 0
  // A proxy may have sent its own page, or nothing.
  const { error } = parseRecord(await readText(response).catch(() => '')) ?? {}
  const code = response.headers['x-error-code']
  const traceId = response.headers['x-trace-id']
  const retryAfter = Number(response.headers['retry-after'])
  return new ApiError({
    status,
    code: typeof code === 'string' ? code : codeOfStatus(status),
    message:
      typeof error === 'string' ? error : `the service answered ${status} ${response.statusMessage ?? ''}`.trimEnd(),
    ...(typeof traceId === 'string' ? { traceId } : {}),
    ...(Number.isFinite(retryAfter) && response.headers['retry-after'] !== undefined ? { retryAfter } : {}),
  })
}
