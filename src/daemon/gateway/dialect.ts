import { KsError } from '../../contract/errors.js'
import { quoteClipped } from '../../contract/issues.js'
import { acceptsIdempotencyKey } from '../../contract/openapi.js'
import { linkAbort } from '../../lib/abort.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { assertRight } from '../auth/scopes.js'
import type { TokenSession } from '../auth/tokens.js'
import type { ApiDialect, RequestExchange } from '../edge.js'
import {
  callHandler,
  createEventStreamResponse,
  createPlainReply,
  createStreamReply,
  toReply,
} from '../handler-replies.js'
import { isBodyless, readJson } from '../http/body.js'
import type { EventStream } from '../http/event-stream.js'
import { findRepeatedHeader } from '../http/guard.js'
import { isGuardedPath } from '../http/guarded-path.js'
import { fingerprintRequest, readIdempotencyKey, runIdempotent } from '../http/idempotency.js'
import { allowOrigin, createPreflightReply } from '../http/origin.js'
import { getQueryText, parseParams, parseQuery, parseValue } from '../http/query.js'
import { createErrorReply, type HttpReply } from '../http/reply.js'
import type { RoutedOperation } from '../routing.js'
import { createUploadForm } from './upload-form.js'

const SINGLE_HEADERS = new Set(['host', 'content-type', 'content-encoding', 'idempotency-key', 'origin'])
const AUTHORIZATION_HEADER = new Set(['authorization'])
const EMPTY_BODY = { value: {}, text: '' }
/** Seconds after which a client may look for the next daemon. */
const RESTART_SECONDS = 5

/** The gateway: tokens with scopes, strict requests, `Idempotency-Key`, one message for each failure. */
export const gatewayDialect: ApiDialect<TokenSession, KsError> = {
  admitSource({ options, request, incoming, listener, base }) {
    const repeated = incoming && findRepeatedHeader(incoming, SINGLE_HEADERS)
    if (repeated === 'host') throw createRepeatedHeader(repeated)
    const origin = options.guard.check(request.headers, incoming?.url ?? '/', listener)
    if (repeated !== undefined) throw createRepeatedHeader(repeated)
    if (origin === undefined) return undefined
    allowOrigin(base, origin)
    return createPreflightReply(request)
  },
  isGuarded: isGuardedPath,
  async authenticate({ options, request, incoming }) {
    const isRepeated = incoming !== undefined && findRepeatedHeader(incoming, AUTHORIZATION_HEADER) !== undefined
    const session = await options.tokens.authenticate(isRepeated ? null : request.headers.get('authorization'))
    options.rateLimit(session.tokenHash)
    return session
  },
  admit: (_exchange, { route }, session) => assertRight(route, session),
  respond,
  toFailure: (error) => (error instanceof KsError ? error : undefined),
  createRefusal: createErrorReply,
  failures: {
    stopping: () => new KsError('unavailable', 'the daemon is stopping', { retryAfter: RESTART_SECONDS }),
    noRoute: (pathname) => new KsError('not-found', `no route ${quoteClipped(pathname)} here`),
    wrongMethod: (allow, method) =>
      new KsError('method-not-allowed', `the method must be one of ${allow}, received ${quoteClipped(method)}`),
    unexpected: (traceId) =>
      new KsError('internal', `the request failed unexpectedly; see the log for the trace id ${traceId}`),
  },
}

function createRepeatedHeader(header: string): KsError {
  return new KsError('invalid-request', `the header ${header} is given more than once`)
}

async function respond(
  exchange: RequestExchange,
  operation: RoutedOperation,
  session: TokenSession | undefined,
): Promise<HttpReply | Response> {
  const { options, request, incoming } = exchange
  const { route } = operation
  const params = parseParams(route, exchange.params)
  const query = route.query && parseQuery(route.query, request.url)
  const key = acceptsIdempotencyKey(route) ? readIdempotencyKey(request.headers) : undefined
  const formOptions = { documents: options.uploads, needsDigest: key !== undefined }
  const form = route.multipart && createUploadForm(request, incoming, route.multipart, formOptions)
  const bodyless = !operation.needsBody && isBodyless(request, incoming)
  const json = route.body && (bodyless ? EMPTY_BODY : await readJson(request, incoming))
  const body = route.body && parseValue(route.body, json?.value, 'the body')
  const operator = session?.operator ?? false
  const { caller, tab } = session ?? {}
  const address = options.clientAddress(incoming)
  const input = { params, query, body, receive: form?.receive, caller, operator, address, tab }
  if (route.events !== undefined) return createStreamResponse(exchange, operation, input)
  if (route.streamed === true)
    return await createStreamReply(exchange, operation, await callHandler(operation.handler, input))
  const { headers: requestHeaders } = request
  const run = (caller = session?.caller) =>
    createPlainReply(operation, { ...input, caller }, { requestHeaders, checkResponses: options.checkResponses })
  if (key === undefined || session === undefined) return run()
  const claim = {
    caller: session.caller,
    key,
    fingerprint: fingerprintRequest({
      method: request.method,
      target: `${exchange.pathname}?${getQueryText(request.url)}`,
      body: json?.text,
    }),
    ...omitUndefined({ content: form, secrets: route.shownOnce }),
  }
  return runIdempotent(options.deps.engine, claim, (result) => toReply(operation, result, { requestHeaders }), run)
}

/** Status and headers are sent once the handler has admitted the request. */
async function createStreamResponse(
  exchange: RequestExchange,
  operation: RoutedOperation,
  input: object,
): Promise<Response> {
  const { headers, signal } = exchange.request
  const client = linkAbort(signal)
  const lastEventId = headers.get('last-event-id') || undefined
  try {
    const events = (await callHandler(operation.handler, {
      ...input,
      signal: client.signal,
      lastEventId,
    })) as EventStream
    return createEventStreamResponse(exchange, operation, events, {
      abandon: () => client.abort(),
      closed: client.dispose,
    })
  } catch (error) {
    client.dispose()
    throw error
  }
}
