import { CHAT_ERRORS, ChatError, type ChatErrorCode } from '../../contract/chat/errors.js'
import { ERRORS, KsError } from '../../contract/errors.js'
import { defined } from '../../lib/defined.js'
import { jsonReply, type Reply } from '../http/reply.js'

const ENCODER = new TextEncoder()
/** seconds after which a client that is one too many may try again, where nothing better is known */
const RETRY_SECONDS = 1

const BEYOND_ASCII = /[\u007f-\uffff]/g
/** what ends a line for some of those that read line by line */
const LINE_ENDS = /[\u0085\u2028\u2029]/g
/** escapes are up to three times as long as what they stand for, and lines of 64 KB are more than some clients read */
const ESCAPED_CHARACTERS = 8000

/**
 * One event of a streamed answer: a single line, with the space that clients look for. What is not ASCII is escaped:
 * many clients decode each piece of the network by itself, which would break characters. An event as long as those
 * that hold passages stays shorter without. Some look for `data:` wherever it stands, so within values it never does.
 */
export function encodeChatFrame(data: unknown): Uint8Array {
  const json = JSON.stringify(data)
  const escaped = json.replace(
    json.length > ESCAPED_CHARACTERS ? LINE_ENDS : BEYOND_ASCII,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return ENCODER.encode(`data: ${escaped.replaceAll('data:', 'data\\u003a')}\n\n`)
}

/** The body of a refusal holds code, message and status, always. */
export function chatErrorReply(error: ChatError, headers: Record<string, string> = {}): Reply {
  const status = CHAT_ERRORS[error.code]
  const body = {
    code: error.code,
    message: error.message,
    status,
    ...defined({ params: error.params, hint: error.hint }),
  }
  return jsonReply(status, body, {
    ...(status === 401 ? { 'www-authenticate': 'Bearer realm="api"' } : {}),
    ...(status === 429 || status === 503 ? { 'retry-after': String(error.retryAfter ?? RETRY_SECONDS) } : {}),
    ...headers,
  })
}

const BY_STATUS: Readonly<Record<number, ChatErrorCode>> = {
  400: 'invalid_param',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'too_large',
  429: 'too_many_requests',
  503: 'service_unavailable',
}

/** A failure of the edge or the engine in the words of the chat service; undefined for one that nobody foresaw. */
export function chatErrorOf(error: unknown): ChatError | undefined {
  if (error instanceof ChatError) return error
  if (!(error instanceof KsError)) return undefined
  const retry = error.retryAfter === undefined ? {} : { retryAfter: Math.max(1, Math.ceil(error.retryAfter)) }
  const code = error.code === 'rate-limited' ? 'rate_limit_error' : BY_STATUS[ERRORS[error.code].status]
  return new ChatError(code ?? 'internal_server_error', error.message, retry)
}

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
/** any, and by name those that any does not hold, or that old browsers need to be told of */
const REQUEST_HEADERS = 'Content-Type, Authorization, X-App-Code, *'
const RESPONSE_HEADERS = 'X-Version, X-Env, X-Trace-Id'

/** Pages of any site may call: the key is in a header that no browser adds by itself. */
export function openToBrowsers(base: Record<string, string>, version: string): void {
  base['access-control-allow-origin'] = '*'
  base['access-control-expose-headers'] = RESPONSE_HEADERS
  base['x-version'] = version
  base['x-env'] = 'PRODUCTION'
  // some clients put this one into their error messages
  if (base['x-trace-id'] !== undefined) base['x-request-id'] = base['x-trace-id']
}

export function chatPreflight(): Reply {
  const headers = { 'access-control-allow-methods': METHODS, 'access-control-allow-headers': REQUEST_HEADERS }
  return { status: 204, body: '', headers }
}
