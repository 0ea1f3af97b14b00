import type { IncomingMessage } from 'node:http'
import type { Context } from 'hono'
import type { Logger } from 'pino'
import { KsError } from '../contract/errors.js'
import { quote } from '../contract/issues.js'
import { acceptsIdempotencyKey } from '../contract/openapi.js'
import { linkAbort } from '../lib/abort.js'
import { defined } from '../lib/defined.js'
import { newId } from '../lib/ids.js'
import { diskError } from '../local/disk-error.js'
import type { DiskRoom } from '../local/disk-room.js'
import { plainReply, replyTo, streamedResponse } from './answer.js'
import { requireScope } from './auth/scopes.js'
import type { Session, TokenVerifier } from './auth/tokens.js'
import type { PreviewLinks } from './chat/previews.js'
import { admitWrite } from './full-disk.js'
import { isBodyless, readJson } from './http/body.js'
import { type Guard, type Listener, repeatedHeader } from './http/guard.js'
import { isGuardedPath } from './http/guarded-path.js'
import { operationMethod, withoutBody } from './http/head.js'
import { fingerprint, idempotencyKey, underKey } from './http/idempotency.js'
import { lingerBeforeClose } from './http/linger.js'
import { multipartReader, type UploadLimits } from './http/multipart.js'
import { permitOrigin, preflightReply } from './http/origin.js'
import { checked, queryText, readParams, readQuery } from './http/query.js'
import type { RateLimit } from './http/rate-limit.js'
import { type BaseHeaders, baseHeaders, errorReply, type Identification, toResponse, traceIdOf } from './http/reply.js'
import type { OpenWork } from './open-work.js'
import type { HandlerDeps } from './operation.js'
import type { Operation, PathOperations } from './routing.js'

/** What Node hands over beside the request; empty for a request made inside the process. */
export interface EdgeBindings {
  incoming?: IncomingMessage
  listener?: Listener
}

export interface EdgeOptions {
  deps: HandlerDeps
  identification: Identification
  guard: Guard
  tokens: TokenVerifier
  rateLimit: RateLimit
  uploads: UploadLimits
  previews: PreviewLinks
  work: OpenWork
  /** absent: nobody minds how much room the disk has */
  room?: DiskRoom | undefined
  log: Logger
  /** parse every answer with the schema of its route */
  checkResponses: boolean
}

type EdgeContext = Context<{ Bindings: EdgeBindings }>

/** Answers one request; never throws. `path` is undefined where no route has the path. */
export type Edge = (context: EdgeContext, path: PathOperations | undefined) => Promise<Response>

/** One request on its way. */
interface Exchange {
  options: EdgeOptions
  request: Request
  incoming: IncomingMessage | undefined
  listener: Listener | undefined
  /** decoded, without the query */
  pathname: string
  params: Record<string, string>
  path: PathOperations | undefined
  base: BaseHeaders
  traceId: string
  /** the answer is still going out when the handler has returned */
  streaming: boolean
  /** ends the count of this request as open work */
  release(): void
}

const SINGLE_HEADERS = new Set(['host', 'content-type', 'content-encoding', 'idempotency-key', 'origin'])
const AUTHORIZATION = new Set(['authorization'])
const NO_BODY = { value: {}, text: '' }
/** seconds after which a client may look for the next daemon */
const RESTART_SECONDS = 5

/**
 * The way of every request, in the order of refusals that the contract fixes: host and origin, token, route, scope,
 * shape, and then the handler.
 */
export function createEdge(options: EdgeOptions): Edge {
  return async (context, path) => {
    const request = context.req.raw
    const traceId = traceIdOf(request.headers, newId)
    const exchange: Exchange = {
      options,
      request,
      incoming: context.env?.incoming,
      listener: context.env?.listener,
      pathname: context.req.path,
      params: path === undefined ? {} : context.req.param(),
      path,
      base: baseHeaders(traceId, options.identification),
      traceId,
      streaming: false,
      release: options.work.begin(),
    }
    const started = performance.now()
    const answer = await answered(exchange)
    const response = request.method === 'HEAD' ? await withoutBody(answer) : answer
    if (options.log.isLevelEnabled('debug')) logRequest(exchange, response, performance.now() - started)
    return response
  }
}

async function answered(exchange: Exchange): Promise<Response> {
  try {
    return await answer(exchange)
  } catch (error) {
    return refusal(exchange, asKsError(exchange, error))
  } finally {
    if (!exchange.streaming) exchange.release()
  }
}

async function answer(exchange: Exchange): Promise<Response> {
  const { options, request, path, base } = exchange
  const origin = admitSource(exchange)
  if (origin !== undefined) {
    permitOrigin(base, origin)
    const preflight = preflightReply(request)
    if (preflight !== undefined) return toResponse(preflight, base)
  }
  if (options.work.stopping())
    throw new KsError('unavailable', 'the daemon is stopping', { retryAfter: RESTART_SECONDS })
  const operation = path?.methods.get(operationMethod(request))
  const session = await admitCaller(exchange, operation)
  if (path === undefined) throw new KsError('not-found', `no route ${quote(exchange.pathname)} here`)
  if (operation === undefined) {
    const rule = `the method must be one of ${path.allow}, received ${quote(request.method)}`
    return refusal(exchange, new KsError('method-not-allowed', rule), { allow: path.allow })
  }
  const { scope } = operation.route
  if (session !== undefined && (scope === 'read' || scope === 'write')) requireScope(session, scope)
  await admitWrite(options.room, operation.route)
  return operate(exchange, operation, session)
}

/** The response to a request that is refused, perhaps while its body still arrives. */
function refusal({ incoming, base }: Exchange, error: KsError, headers: Record<string, string> = {}): Response {
  if (incoming === undefined || incoming.complete) return toResponse(errorReply(error, headers), base)
  lingerBeforeClose(incoming)
  return toResponse(errorReply(error, { ...headers, connection: 'close' }), base)
}

/** Host, origin, and headers that must be single. @returns a listed foreign origin */
function admitSource({ options, request, incoming, listener }: Exchange): string | undefined {
  const repeated = incoming && repeatedHeader(incoming, SINGLE_HEADERS)
  if (repeated === 'host') throw givenTwice(repeated)
  const origin = options.guard.check(request.headers, incoming?.url ?? '/', listener)
  if (repeated !== undefined) throw givenTwice(repeated)
  return origin
}

function givenTwice(header: string): KsError {
  return new KsError('invalid-request', `the header ${header} is given more than once`)
}

/** A route says itself whether it needs a token; a path without a route needs one under a guarded prefix. */
async function admitCaller(exchange: Exchange, operation: Operation | undefined): Promise<Session | undefined> {
  const { options, request, incoming, path, pathname } = exchange
  const guarded =
    operation === undefined ? (path?.guarded ?? isGuardedPath(pathname)) : operation.route.scope !== 'public'
  if (!guarded) return undefined
  const twice = incoming !== undefined && repeatedHeader(incoming, AUTHORIZATION) !== undefined
  const session = await options.tokens.authenticate(twice ? null : request.headers.get('authorization'))
  options.rateLimit(session.tokenHash)
  return session
}

/** Reads the request as its route describes it and runs the handler. */
async function operate(exchange: Exchange, operation: Operation, session: Session | undefined): Promise<Response> {
  const { options, request, incoming, base } = exchange
  const { route } = operation
  const params = readParams(route, exchange.params)
  const query = route.query && readQuery(route.query, request.url)
  const key = acceptsIdempotencyKey(route) ? idempotencyKey(request.headers) : undefined
  const form =
    route.multipart && multipartReader(request, incoming, route.multipart, options.uploads, key !== undefined)
  const bodyless = !operation.needsBody && isBodyless(request, incoming)
  const json = route.body && (bodyless ? NO_BODY : await readJson(request, incoming))
  const body = route.body && checked(route.body, json?.value, 'the body')
  const input = {
    params,
    query,
    body,
    receive: form?.receive,
    caller: session?.caller,
    operator: session?.operator ?? false,
  }
  if (route.events !== undefined) return stream(exchange, operation, input)
  const work = (caller = session?.caller) =>
    plainReply(operation, { ...input, caller }, request.headers, options.checkResponses)
  if (key === undefined || session === undefined) return toResponse(await work(), base)
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
  const replyOf = (result: unknown) => replyTo(operation, result, request.headers)
  return toResponse(await underKey(options.deps.engine, claim, replyOf, work), base)
}

async function stream(exchange: Exchange, operation: Operation, input: object): Promise<Response> {
  const { options, request, base, traceId } = exchange
  const { work, log, checkResponses } = options
  const client = linkAbort(request.signal)
  const closed = (error?: unknown) => {
    client.dispose()
    exchange.release()
    if (error !== undefined) log.warn({ traceId, err: error, operation: operation.route.id }, 'stream failed')
  }
  const surroundings = { base, work, checkResponses, abandon: () => client.abort(), closed }
  const lastEventId = request.headers.get('last-event-id') || undefined
  try {
    const response = await streamedResponse(operation, { ...input, signal: client.signal, lastEventId }, surroundings)
    exchange.streaming = true
    return response
  } catch (error) {
    client.dispose()
    throw error
  }
}

/** Everything that is not part of the contract is told by its trace id only; the log has the rest. */
function asKsError({ options, request, pathname, traceId }: Exchange, error: unknown): KsError {
  if (error instanceof KsError) {
    options.room?.note(error)
    if (error.cause !== undefined) options.log.warn({ traceId, err: error, path: pathname }, 'request refused')
    return error
  }
  const refused = diskError(error)
  if (refused !== undefined) {
    options.room?.note(refused)
    options.log.error({ traceId, err: error, path: pathname }, 'the disk refused to write')
    return refused
  }
  options.log.error({ traceId, err: error, method: request.method, path: pathname }, 'request failed')
  return new KsError('internal', `the request failed unexpectedly; the log tells why under the trace id ${traceId}`)
}

function logRequest({ options, request, pathname, traceId }: Exchange, response: Response, ms: number): void {
  const { method } = request
  options.log.debug(
    { traceId, method, path: pathname, status: response.status, ms: Math.round(ms * 100) / 100 },
    'request',
  )
}
