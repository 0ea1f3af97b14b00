import type { IncomingMessage } from 'node:http'
import type { Context } from 'hono'
import type { Logger } from 'pino'
import { newId } from '../lib/ids.js'
import { toDiskError } from '../local/disk-error.js'
import type { DiskReserve } from '../local/disk-reserve.js'
import type { TokenVerifier } from './auth/tokens.js'
import type { PreviewLinks } from './chat/previews.js'
import { admitWrite } from './full-disk.js'
import type { UploadLimits } from './gateway/upload-form.js'
import type { ClientAddress } from './http/client-address.js'
import type { HostGuard, RequestListenerInfo } from './http/guard.js'
import { dropBody, toOperationMethod } from './http/head.js'
import { lingerBeforeClose } from './http/linger.js'
import type { RateLimit } from './http/rate-limit.js'
import {
  type BaseHeaders,
  createBaseHeaders,
  type DaemonIdentification,
  getTraceId,
  type HttpReply,
  toResponse,
} from './http/reply.js'
import type { OpenWork } from './open-work.js'
import type { HandlerDeps } from './operation.js'
import type { PathOperations, RoutedOperation } from './routing.js'

/** Data from Node about a request; empty for a request made inside the process. */
export interface EdgeBindings {
  incoming?: IncomingMessage
  listener?: RequestListenerInfo
}

export interface EdgeOptions {
  deps: HandlerDeps
  identification: DaemonIdentification
  guard: HostGuard
  tokens: TokenVerifier
  rateLimit: RateLimit
  clientAddress: ClientAddress
  uploads: UploadLimits
  previews: PreviewLinks
  work: OpenWork
  /** Absent: the free space of the disk is not checked. */
  diskReserve?: DiskReserve | undefined
  log: Logger
  /** Validate every response with the schema of its route. */
  checkResponses: boolean
}

/** A request being handled. */
export interface RequestExchange {
  options: EdgeOptions
  request: Request
  incoming: IncomingMessage | undefined
  listener: RequestListenerInfo | undefined
  /** Decoded path, without the query. */
  pathname: string
  params: Record<string, string>
  path: PathOperations | undefined
  base: BaseHeaders
  traceId: string
  /** The caller is an anonymous visitor of a page: failures must not reveal the deployment. */
  isVisitor: boolean
  /** The response is still being sent after the handler has returned. */
  isStreaming: boolean
  /** Ends the count of this request as open work. */
  release(): void
}

/**
 * The differences between the two APIs; everything else is shared. For one request, each of the first five methods is
 * called at most once, in this order; their errors are sent as the reply of `createRefusal`.
 */
export interface ApiDialect<Session, Failure> {
  /**
   * Checks the origin of a request.
   * @returns the reply to a CORS preflight request
   */
  admitSource(exchange: RequestExchange): HttpReply | undefined
  /** Whether even the absence of a route requires authentication. */
  isGuarded(pathname: string): boolean
  /** Identifies the caller. */
  authenticate(exchange: RequestExchange, operation: RoutedOperation | undefined): Promise<Session> | Session
  /** Checks the permission of the caller, and waits for required earlier work. */
  admit(exchange: RequestExchange, operation: RoutedOperation, session: Session): Promise<void> | void
  /**
   * Reads the request as its route describes it and runs the handler.
   * @param session absent if the route needs none
   */
  respond(
    exchange: RequestExchange,
    operation: RoutedOperation,
    session: Session | undefined,
  ): Promise<HttpReply | Response>
  /** Maps an error to a failure of the API; undefined for one outside of its contract. */
  toFailure(error: unknown): Failure | undefined
  createRefusal(failure: Failure, headers: Record<string, string>, exchange: RequestExchange): HttpReply
  /** Failures common to all APIs. */
  readonly failures: {
    stopping(): Failure
    noRoute(pathname: string): Failure
    wrongMethod(allow: string, method: string): Failure
    /** The log has the details under the trace id. */
    unexpected(traceId: string): Failure
  }
}

type EdgeContext = Context<{ Bindings: EdgeBindings }>

/** Handles one request; never throws. `path` is undefined if no route has the path. */
export type RequestHandler = (context: EdgeContext, path: PathOperations | undefined) => Promise<Response>

/**
 * Creates the handler of every request. It checks in the order that the contract fixes: host and origin, token, route,
 * scope, shape; then it runs the handler.
 */
export function createEdge<Session, Failure>(
  options: EdgeOptions,
  dialect: ApiDialect<Session, Failure>,
): RequestHandler {
  return async (context, path) => {
    const request = context.req.raw
    const traceId = getTraceId(request.headers, newId)
    const exchange: RequestExchange = {
      options,
      request,
      incoming: context.env?.incoming,
      listener: context.env?.listener,
      pathname: context.req.path,
      params: path === undefined ? {} : context.req.param(),
      path,
      base: createBaseHeaders(traceId, options.identification),
      traceId,
      isVisitor: false,
      isStreaming: false,
      release: options.work.begin(),
    }
    const startedAt = performance.now()
    const reply = await handleSafely(exchange, dialect)
    const { isStreaming } = exchange
    const response = request.method === 'HEAD' ? await dropBody(reply, { isStreaming }) : reply
    const ms = performance.now() - startedAt
    const route = path?.methods.get(toOperationMethod(request))?.route
    options.deps.requestMetrics.record(route, response.status, ms)
    if (options.log.isLevelEnabled('debug')) logRequest(exchange, response, ms)
    return response
  }
}

async function handleSafely<S, F>(exchange: RequestExchange, dialect: ApiDialect<S, F>): Promise<Response> {
  try {
    const reply = await handle(exchange, dialect)
    return reply instanceof Response ? reply : toResponse(reply, exchange.base)
  } catch (error) {
    return toErrorResponse(exchange, dialect, toApiFailure(exchange, dialect, error))
  } finally {
    if (!exchange.isStreaming) exchange.release()
  }
}

async function handle<S, F>(exchange: RequestExchange, dialect: ApiDialect<S, F>): Promise<HttpReply | Response> {
  const { options, request, path, pathname } = exchange
  const { failures } = dialect
  const preflight = dialect.admitSource(exchange)
  if (preflight !== undefined) return preflight
  if (options.work.isStopping()) throw failures.stopping()
  const operation = path?.methods.get(toOperationMethod(request))
  // A route defines itself whether it needs a caller.
  const isGuarded =
    operation === undefined ? (path?.guarded ?? dialect.isGuarded(pathname)) : operation.route.scope !== 'public'
  const session = await (isGuarded ? dialect.authenticate(exchange, operation) : undefined)
  if (path === undefined) throw failures.noRoute(pathname)
  if (operation === undefined)
    return toErrorResponse(exchange, dialect, failures.wrongMethod(path.allow, request.method), { allow: path.allow })
  if (session !== undefined) await dialect.admit(exchange, operation, session)
  await admitWrite(options.diskReserve, operation.route)
  const reply = await dialect.respond(exchange, operation, session)
  // The reply may reveal writes that are not durable yet: wait. Public routes read no stored data.
  if (session !== undefined && !exchange.isStreaming) await options.deps.engine.durable()
  return reply
}

/** The response to a rejected request, whose body may still be arriving. */
function toErrorResponse<S, F>(
  exchange: RequestExchange,
  { createRefusal }: ApiDialect<S, F>,
  failure: F,
  headers: Record<string, string> = {},
): Response {
  const { incoming, base } = exchange
  if (incoming === undefined || incoming.complete) return toResponse(createRefusal(failure, headers, exchange), base)
  lingerBeforeClose(incoming)
  return toResponse(createRefusal(failure, { ...headers, connection: 'close' }, exchange), base)
}

/** Logs an error and maps it to a failure of the API. Unexpected errors are reported by their trace id only. */
function toApiFailure<S, F>(exchange: RequestExchange, { toFailure, failures }: ApiDialect<S, F>, error: unknown): F {
  const { options, request, pathname, traceId } = exchange
  const { log, diskReserve } = options
  const diskFailure = toDiskError(error)
  const failure = toFailure(diskFailure ?? error)
  const logFields = { traceId, err: error, method: request.method, path: pathname }
  diskReserve?.noteError(error)
  if (diskFailure !== undefined) log.error(logFields, 'the disk refused to write')
  else if (failure === undefined) log.error(logFields, 'request failed')
  else if (error instanceof Error && error.cause !== undefined) log.warn(logFields, 'request refused')
  return failure ?? failures.unexpected(traceId)
}

function logRequest({ options, request, pathname, traceId }: RequestExchange, response: Response, ms: number): void {
  const { method } = request
  options.log.debug(
    { traceId, method, path: pathname, status: response.status, ms: Math.round(ms * 100) / 100 },
    'request',
  )
}
