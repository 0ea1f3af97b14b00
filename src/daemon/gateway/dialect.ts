import { KsError } from '../../contract/errors.js'
import { quote } from '../../contract/issues.js'
import { acceptsIdempotencyKey } from '../../contract/openapi.js'
import { linkAbort } from '../../lib/abort.js'
import { defined } from '../../lib/defined.js'
import { call, plainReply, replyTo, sentStream, streamedResponse } from '../answer.js'
import { requireRight } from '../auth/scopes.js'
import type { Session } from '../auth/tokens.js'
import type { Dialect, Exchange } from '../edge.js'
import { isBodyless, readJson } from '../http/body.js'
import type { EventStream } from '../http/event-stream.js'
import { repeatedHeader } from '../http/guard.js'
import { isGuardedPath } from '../http/guarded-path.js'
import { fingerprint, idempotencyKey, underKey } from '../http/idempotency.js'
import { permitOrigin, preflightReply } from '../http/origin.js'
import { checked, queryText, readParams, readQuery } from '../http/query.js'
import { errorReply, type Reply } from '../http/reply.js'
import type { Operation } from '../routing.js'
import { uploadForm } from './upload-form.js'

const SINGLE_HEADERS = new Set(['host', 'content-type', 'content-encoding', 'idempotency-key', 'origin'])
const AUTHORIZATION = new Set(['authorization'])
const NO_BODY = { value: {}, text: '' }
/** Seconds after which a client may look for the next daemon. */
const RESTART_SECONDS = 5

/** The gateway: tokens with scopes, strict requests, `Idempotency-Key`, one message for each failure. */
export const gatewayDialect: Dialect<Session, KsError> = {
  admitSource({ options, request, incoming, listener, base }) {
    const repeated = incoming && repeatedHeader(incoming, SINGLE_HEADERS)
    if (repeated === 'host') throw givenTwice(repeated)
    const origin = options.guard.check(request.headers, incoming?.url ?? '/', listener)
    if (repeated !== undefined) throw givenTwice(repeated)
    if (origin === undefined) return undefined
    permitOrigin(base, origin)
    return preflightReply(request)
  },
  isGuarded: isGuardedPath,
  async authenticate({ options, request, incoming }) {
    const twice = incoming !== undefined && repeatedHeader(incoming, AUTHORIZATION) !== undefined
    const session = await options.tokens.authenticate(twice ? null : request.headers.get('authorization'))
    options.rateLimit(session.tokenHash)
    return session
  },
  admit: (_exchange, { route }, session) => requireRight(route, session),
  operate,
  known: (error) => (error instanceof KsError ? error : undefined),
  refusal: errorReply,
  failures: {
    stopping: () => new KsError('unavailable', 'the daemon is stopping', { retryAfter: RESTART_SECONDS }),
    noRoute: (pathname) => new KsError('not-found', `no route ${quote(pathname)} here`),
    wrongMethod: (allow, method) =>
      new KsError('method-not-allowed', `the method must be one of ${allow}, received ${quote(method)}`),
    unforeseen: (traceId) =>
      new KsError('internal', `the request failed unexpectedly; see the log for the trace id ${traceId}`),
  },
}

function givenTwice(header: string): KsError {
  return new KsError('invalid-request', `the header ${header} is given more than once`)
}

async function operate(
  exchange: Exchange,
  operation: Operation,
  session: Session | undefined,
): Promise<Reply | Response> {
  const { options, request, incoming } = exchange
  const { route } = operation
  const params = readParams(route, exchange.params)
  const query = route.query && readQuery(route.query, request.url)
  const key = acceptsIdempotencyKey(route) ? idempotencyKey(request.headers) : undefined
  const form = route.multipart && uploadForm(request, incoming, route.multipart, options.uploads, key !== undefined)
  const bodyless = !operation.needsBody && isBodyless(request, incoming)
  const json = route.body && (bodyless ? NO_BODY : await readJson(request, incoming))
  const body = route.body && checked(route.body, json?.value, 'the body')
  const operator = session?.operator ?? false
  const { caller, tab } = session ?? {}
  const address = options.clientAddress(incoming)
  const input = { params, query, body, receive: form?.receive, caller, operator, address, tab }
  if (route.events !== undefined) return stream(exchange, operation, input)
  if (route.streamed === true) return await sentStream(exchange, operation, await call(operation.handler, input))
  const work = (caller = session?.caller) =>
    plainReply(operation, { ...input, caller }, request.headers, options.checkResponses)
  if (key === undefined || session === undefined) return work()
  const claim = {
    caller: session.caller,
    key,
    fingerprint: fingerprint({
      method: request.method,
      target: `${exchange.pathname}?${queryText(request.url)}`,
      body: json?.text,
    }),
    ...defined({ content: form, secrets: route.shownOnce }),
  }
  return underKey(options.deps.engine, claim, (result) => replyTo(operation, result, request.headers), work)
}

/** Status and headers are sent once the handler has admitted the request. */
async function stream(exchange: Exchange, operation: Operation, input: object): Promise<Response> {
  const { headers, signal } = exchange.request
  const client = linkAbort(signal)
  const lastEventId = headers.get('last-event-id') || undefined
  try {
    const events = (await call(operation.handler, { ...input, signal: client.signal, lastEventId })) as EventStream
    return streamedResponse(exchange, operation, events, { abandon: () => client.abort(), closed: client.dispose })
  } catch (error) {
    client.dispose()
    throw error
  }
}
