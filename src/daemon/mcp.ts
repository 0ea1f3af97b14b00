import type { Hono } from 'hono'
import { KsError } from '../contract/errors.js'
import { route } from '../contract/route.js'
import type { McpSessions } from '../mcp/sessions.js'
import type { TokenSession } from './auth/tokens.js'
import { type ApiDialect, createEdge, type EdgeBindings, type EdgeOptions, type RequestExchange } from './edge.js'
import { gatewayDialect } from './gateway/dialect.js'
import { isBodyless, readJson } from './http/body.js'
import { createErrorReply } from './http/reply.js'
import { compileRoutes } from './routing.js'

/**
 * `/mcp`: the streamable HTTP transport of the Model Context Protocol. A request is admitted like any other; its tools
 * use the daemon's own routes with the caller's token, so nothing bypasses them. The code is loaded with the first
 * request.
 */
export const mcpRoutes = (['GET', 'POST', 'DELETE'] as const).map((method) =>
  route({
    id: `mcp${method}`,
    method,
    path: '/mcp',
    scope: 'read',
    summary: 'The Model Context Protocol.',
    ok: { 200: 'event-stream' },
    errors: [],
  }),
)

export function serveMcp(app: Hono<{ Bindings: EdgeBindings }>, options: EdgeOptions): void {
  let loading: Promise<McpSessions> | undefined
  const sessions = async () => {
    loading ??= import('../mcp/sessions.js').then(
      ({ McpSessions: Sessions }) =>
        new Sessions({
          version: options.identification.version,
          // No listener: the original request was already checked.
          dispatch: async (request) => app.fetch(request, {}),
        }),
    )
    return loading
  }
  const dialect: ApiDialect<TokenSession, KsError> = {
    ...gatewayDialect,
    respond: async (exchange, _operation, session) => {
      if (session === undefined) throw new KsError('unauthenticated', 'a token is required')
      return handleMcp(exchange, session, await sessions())
    },
    // Clients of the protocol need to know how to authenticate.
    createRefusal: (failure, headers) =>
      createErrorReply(
        failure,
        failure.code === 'unauthenticated' ? { 'www-authenticate': 'Bearer', ...headers } : headers,
      ),
  }
  const edge = createEdge(options, dialect)
  const handlers = Object.fromEntries(mcpRoutes.map(({ id }) => [id, () => undefined]))
  for (const path of compileRoutes(mcpRoutes, handlers)) app.all(path.pattern, (context) => edge(context, path))
}

async function handleMcp(exchange: RequestExchange, session: TokenSession, sessions: McpSessions): Promise<Response> {
  const { request, incoming } = exchange
  const json = isBodyless(request, incoming) ? undefined : await readJson(request, incoming)
  const { tenant, subject } = session.caller
  const caller = {
    key: JSON.stringify([tenant, subject]),
    tenant,
    token: (request.headers.get('authorization') ?? '').replace(/^Bearer /i, ''),
    mayWrite: session.scopes.has('knowledge-spaces:*') || session.scopes.has('knowledge-spaces:write'),
  }
  const space = new URL(request.url).searchParams.get('space') ?? undefined
  return trackStream(exchange, await sessions.handle(cloneWithoutBody(request), json?.value, caller, space))
}

/** A request whose body is already parsed, as the transport needs it. */
function cloneWithoutBody({ url, method, headers, signal }: Request): Request {
  return new Request(url, { method, headers, signal })
}

/** The response to a request. If it is a stream, it counts as open work until it ends, and ends with the daemon. */
function trackStream(exchange: RequestExchange, response: Response): Response {
  const headers = new Headers(response.headers)
  for (const [name, value] of Object.entries(exchange.base)) headers.set(name, value)
  const { status, body } = response
  if (body === null || headers.get('content-type')?.startsWith('text/event-stream') !== true)
    return new Response(body, { status, headers })
  const reader = body.getReader()
  let streamController: ReadableStreamDefaultController<Uint8Array> | undefined
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => {
      streamController = controller
    },
    async pull(controller) {
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }))
      if (value !== undefined) return controller.enqueue(value)
      if (done) finish()
    },
    async cancel(reason) {
      finish()
      await reader.cancel(reason)
    },
  })
  const untrack = exchange.options.work.track({
    body: stream,
    cut: () => finish(),
    // Streams of notifications are resumable; results are sent in response to POST.
    isResumable: exchange.request.method === 'GET',
  })
  let isFinished = false
  const finish = () => {
    if (isFinished) return
    isFinished = true
    untrack()
    exchange.release()
    void reader.cancel().catch(() => undefined)
    try {
      streamController?.close()
    } catch {
      // Canceled by its reader.
    }
  }
  exchange.isStreaming = true
  headers.set('x-accel-buffering', 'no')
  return new Response(stream, { status, headers })
}
