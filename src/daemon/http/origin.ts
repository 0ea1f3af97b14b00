import { type BaseHeaders, createEmptyReply, type HttpReply } from './reply.js'

const ALLOWED_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const REQUEST_HEADERS =
  'authorization, content-type, idempotency-key, x-trace-id, last-event-id, mcp-session-id, mcp-protocol-version'
const RESPONSE_HEADERS =
  'x-trace-id, x-error-code, x-ks-version, x-query-run-id, x-session-id, retry-after, mcp-session-id'

/** Lets an allowed origin read the response. No other response has CORS headers. */
export function allowOrigin(base: BaseHeaders, origin: string): void {
  base['access-control-allow-origin'] = origin
  base['access-control-expose-headers'] = RESPONSE_HEADERS
  base['vary'] = 'origin'
}

/** The reply to a CORS preflight request; undefined for any other request. */
export function createPreflightReply(request: Request): HttpReply | undefined {
  if (request.method !== 'OPTIONS' || request.headers.get('access-control-request-method') === null) return undefined
  return createEmptyReply(204, {
    'access-control-allow-methods': ALLOWED_METHODS,
    'access-control-allow-headers': REQUEST_HEADERS,
  })
}
