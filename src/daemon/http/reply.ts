import { STATUS_CODES } from 'node:http'
import { ERRORS, type KsError } from '../../contract/errors.js'
import { newId } from '../../lib/ids.js'

/** Headers of every response, made once for each request. */
export type BaseHeaders = Record<string, string>

export interface Identification {
  version: string
  instance: string
}

const TRACE_ID = /^[A-Za-z0-9._-]{1,128}$/

/** The caller's correlation id where it is one, else a new one. */
export function traceIdOf(headers: Headers, fresh: () => string): string {
  const given = headers.get('x-trace-id')
  return given !== null && TRACE_ID.test(given) ? given : fresh()
}

export function baseHeaders(traceId: string, { version, instance }: Identification): BaseHeaders {
  return {
    'x-trace-id': traceId,
    'x-ks-version': version,
    'x-ks-instance': instance,
    'x-content-type-options': 'nosniff',
  }
}

/** What a request is answered with, beside the headers that every response has. */
export interface Reply {
  status: number
  /** empty for none */
  body: string | Uint8Array
  headers: Record<string, string>
}

export function toResponse({ status, body, headers }: Reply, base: BaseHeaders): Response {
  return new Response(body === '' ? null : body, { status, headers: { ...base, ...headers } })
}

export function jsonReply(status: number, value: unknown, headers?: Record<string, string>): Reply {
  return { status, body: JSON.stringify(value), headers: { 'content-type': 'application/json', ...headers } }
}

export function emptyReply(status: number, headers: Record<string, string> = {}): Reply {
  return { status, body: '', headers }
}

export function bytesReply(status: number, bytes: Uint8Array): Reply {
  const headers = {
    'content-type': 'application/octet-stream',
    'content-length': String(bytes.byteLength),
    // never a page of its own, whatever the bytes are
    'content-disposition': 'attachment',
  }
  return { status, body: bytes, headers }
}

export function eventsReply(
  body: ReadableStream<Uint8Array>,
  base: BaseHeaders,
  extra: Record<string, string>,
): Response {
  const headers = {
    ...base,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no', // proxies of the nginx family hold frames back otherwise
    ...extra,
  }
  return new Response(body, { status: 200, headers })
}

/** The body of a failure is `{"error": sentence}`, and what its code has beside it; the code is in a header. */
export function errorReply(error: KsError, headers?: Record<string, string>): Reply {
  const reply = jsonReply(
    ERRORS[error.code].status,
    { error: error.message, ...error.details },
    { 'x-error-code': error.code, ...headers },
  )
  if (error.retryAfter !== undefined) reply.headers['retry-after'] = String(Math.max(1, Math.ceil(error.retryAfter)))
  return reply
}

/** A complete answer for a connection whose request never became one, in the same shape as every other failure. */
export function rawErrorReply(status: number, code: string, sentence: string): string {
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
