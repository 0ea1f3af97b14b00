import { CHAT_ERRORS, ChatError, type ChatErrorCode } from '../../contract/chat/errors.js'
import { ERRORS, KsError } from '../../contract/errors.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { createJsonReply, type HttpReply } from '../http/reply.js'

const ENCODER = new TextEncoder()
/** Seconds after which a rejected client may retry, if nothing better is known. */
const RETRY_SECONDS = 1

const NON_ASCII = /[\u007f-\uffff]/g
/** Characters that some line readers treat as line ends. */
const EXTRA_LINE_ENDS = /[\u0085\u2028\u2029]/g
/** Escapes triple the length, and some clients cannot read lines of 64 KB. */
const MAX_ESCAPED_CHARS = 8000

/**
 * Encodes one event of a streamed answer: a single line, with the space that clients expect. Non-ASCII characters are
 * escaped, because many clients decode network chunks separately, which would break characters. Long events, such as
 * those with passages, are not escaped, to keep them short. Some clients search for `data:` anywhere, so values never
 * contain it.
 */
export function encodeChatFrame(data: unknown): Uint8Array {
  const json = JSON.stringify(data)
  const escaped = json.replace(
    json.length > MAX_ESCAPED_CHARS ? EXTRA_LINE_ENDS : NON_ASCII,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return ENCODER.encode(`data: ${escaped.replaceAll('data:', 'data\\u003a')}\n\n`)
}

/** The body of an error always has code, message and status. */
export function chatErrorReply(error: ChatError, headers: Record<string, string> = {}): HttpReply {
  const status = CHAT_ERRORS[error.code]
  const body = {
    code: error.code,
    message: error.message,
    status,
    ...omitUndefined({ params: error.params, hint: error.hint }),
  }
  return createJsonReply(status, body, {
    ...(status === 401 ? { 'www-authenticate': 'Bearer realm="api"' } : {}),
    ...(status === 429 || status === 503 ? { 'retry-after': String(error.retryAfter ?? RETRY_SECONDS) } : {}),
    ...headers,
  })
}

const CODE_BY_STATUS: Readonly<Record<number, ChatErrorCode>> = {
  400: 'invalid_param',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'too_large',
  429: 'too_many_requests',
  503: 'service_unavailable',
}

/** Maps a failure of the edge or the engine to a chat error; undefined for an unexpected failure. */
export function toKnownChatError(error: unknown): ChatError | undefined {
  if (error instanceof ChatError) return error
  if (!(error instanceof KsError)) return undefined
  const retry = error.retryAfter === undefined ? {} : { retryAfter: Math.max(1, Math.ceil(error.retryAfter)) }
  const code = error.code === 'rate-limited' ? 'rate_limit_error' : CODE_BY_STATUS[ERRORS[error.code].status]
  return new ChatError(code ?? 'internal_server_error', error.message, retry)
}

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
/** Any header, and by name those that `*` excludes or that old browsers need explicitly. */
const REQUEST_HEADERS = 'Content-Type, Authorization, X-App-Code, *'
const RESPONSE_HEADERS = 'X-Version, X-Env, X-Trace-Id'

/** Pages of any site may call: browsers never add the key header on their own. */
export function allowAllOrigins(base: Record<string, string>, version: string): void {
  base['access-control-allow-origin'] = '*'
  base['access-control-expose-headers'] = RESPONSE_HEADERS
  base['x-version'] = version
  base['x-env'] = 'PRODUCTION'
  // Some clients include it in their error messages.
  if (base['x-trace-id'] !== undefined) base['x-request-id'] = base['x-trace-id']
}

export function createPreflightReply(): HttpReply {
  const headers = { 'access-control-allow-methods': METHODS, 'access-control-allow-headers': REQUEST_HEADERS }
  return { status: 204, body: '', headers }
}
