import { createHash } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import { gzipSync } from 'node:zlib'
import { ERRORS, type KsError } from '../../contract/errors.js'
import { newId } from '../../lib/ids.js'

/** Headers of every response, created once per request. */
export type BaseHeaders = Record<string, string>

export interface DaemonIdentification {
  version: string
  instance: string
}

const TRACE_ID = /^[A-Za-z0-9._-]{1,128}$/

/** The caller's correlation id if it is valid, otherwise a new one. */
export function getTraceId(headers: Headers, createId: () => string): string {
  const traceId = headers.get('x-trace-id')
  return traceId !== null && TRACE_ID.test(traceId) ? traceId : createId()
}

export function createBaseHeaders(traceId: string, { version, instance }: DaemonIdentification): BaseHeaders {
  return {
    'x-trace-id': traceId,
    'x-ks-version': version,
    'x-ks-instance': instance,
    'x-content-type-options': 'nosniff',
  }
}

/** A response without the base headers. */
export interface HttpReply {
  status: number
  /** Empty for none. */
  body: string | Uint8Array
  headers: Record<string, string>
}

/** A JSON response that is the same for all clients: its bytes are created once. */
export class FixedJson {
  readonly bytes: Uint8Array
  readonly gzip: Uint8Array
  readonly etag: string

  constructor(value: unknown) {
    this.bytes = Buffer.from(JSON.stringify(value))
    this.gzip = gzipSync(this.bytes)
    this.etag = `W/"${createHash('sha256').update(this.bytes).digest('base64url').slice(0, 27)}"`
  }

  /** The reply to a client, which may have a cached copy. */
  reply(status: number, request: Headers): HttpReply {
    const headers = { etag: this.etag, 'cache-control': 'no-cache', vary: 'accept-encoding' }
    const cachedTags = request.get('if-none-match')?.split(',') ?? []
    if (cachedTags.some((tag) => tag.trim() === this.etag || tag.trim() === '*')) return createEmptyReply(304, headers)
    const typed = { ...headers, 'content-type': 'application/json' }
    return acceptsGzip(request.get('accept-encoding') ?? '')
      ? { status, body: this.gzip, headers: { ...typed, 'content-encoding': 'gzip' } }
      : { status, body: this.bytes, headers: typed }
  }
}

/** @param acceptEncoding value of the header `Accept-Encoding`, '' for none */
export function acceptsGzip(acceptEncoding: string): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/.test(acceptEncoding)
}

export function toResponse({ status, body, headers }: HttpReply, base: BaseHeaders): Response {
  return new Response(body === '' ? null : body, { status, headers: { ...base, ...headers } })
}

export function createJsonReply(status: number, value: unknown, headers?: Record<string, string>): HttpReply {
  return { status, body: JSON.stringify(value), headers: { 'content-type': 'application/json', ...headers } }
}

/** A long response whose JSON was serialized in slices. */
export function createJsonBytesReply(status: number, json: Uint8Array): HttpReply {
  return { status, body: json, headers: { 'content-type': 'application/json' } }
}

export function createEmptyReply(status: number, headers: Record<string, string> = {}): HttpReply {
  return { status, body: '', headers }
}

export function createBytesReply(status: number, bytes: Uint8Array): HttpReply {
  const headers = {
    'content-type': 'application/octet-stream',
    'content-length': String(bytes.byteLength),
    // Never rendered as a page, whatever the bytes are.
    'content-disposition': 'attachment',
  }
  return { status, body: bytes, headers }
}

export function createTextReply(status: number, text: string, type = 'text/plain; charset=utf-8'): HttpReply {
  return { status, body: text, headers: { 'content-type': type } }
}

export function createEventsResponse(
  body: ReadableStream<Uint8Array>,
  base: BaseHeaders,
  extra: Record<string, string>,
): Response {
  const headers = {
    ...base,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no', // Prevents nginx and similar proxies from buffering frames.
    ...extra,
  }
  return new Response(body, { status: 200, headers })
}

/** The body of a failure is `{"error": message}` with the details of its code; the code is in a header. */
export function createErrorReply(error: KsError, headers?: Record<string, string>): HttpReply {
  const reply = createJsonReply(
    ERRORS[error.code].status,
    { error: error.message, ...error.details },
    { 'x-error-code': error.code, ...headers },
  )
  if (error.retryAfter !== undefined) reply.headers['retry-after'] = String(Math.max(1, Math.ceil(error.retryAfter)))
  return reply
}

/** A complete HTTP response for a connection without a valid request, in the format of every other failure. */
export function createRawErrorReply(status: number, code: string, sentence: string): string {
  const body = JSON.stringify({ error: sentence })
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'connection: close',
    'content-type: application/json',
    `x-error-code: ${code}`,
    `x-trace-id: ${newId()}`,
    'x-content-type-options: nosniff',
    `content-length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')
}
