import { randomUUID } from 'node:crypto'
import {
  isInitializeRequest,
  type Server,
  type ServerContext,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { findLargestHolder } from '../lib/fair-share.js'
import type { GatewayApi } from './api.js'
import type { McpHost } from './host.js'
import { createInProcessApi, type Dispatch } from './in-process.js'
import { createMcpServer } from './server.js'

/** Sessions of the streamable HTTP transport, each with its own server. */
export const SESSION_LIMITS = {
  /** Of all callers together: a session takes some tens of kilobytes. */
  most: 1000,
  /** Of one caller; a further session ends the oldest. */
  perCaller: 100,
  /** Time without a request or an open stream. */
  idleMs: 30 * 60_000,
}
const SWEEP_MS = 60_000

export interface McpCaller {
  /** Owner of the session: the id of another caller's session does not match. */
  key: string
  /** The tenant for the fair share of sessions. */
  tenant: string
  token: string
  mayWrite: boolean
}

export interface McpSessionsOptions {
  version: string
  dispatch: Dispatch
  limits?: Partial<typeof SESSION_LIMITS>
  /** Creates the server of a session. */
  serve?: (host: McpHost) => Server
}

interface McpSession {
  id: string
  key: string
  tenant: string
  server: Server
  transport: WebStandardStreamableHTTPServerTransport
  /** Token of the last request, for the session's background requests. */
  token: string
  /** Number of open requests and streams. */
  open: number
  usedAt: number
}

export class McpSessions {
  readonly #sessions = new Map<string, McpSession>()
  readonly #options: McpSessionsOptions
  readonly #limits: typeof SESSION_LIMITS
  readonly #sweeper: NodeJS.Timeout

  constructor(options: McpSessionsOptions) {
    this.#options = options
    this.#limits = { ...SESSION_LIMITS, ...options.limits }
    // A session that fails to close is forgotten like the others.
    const sweep = () => void this.sweep().catch(() => undefined)
    this.#sweeper = setInterval(sweep, Math.min(SWEEP_MS, this.#limits.idleMs))
    this.#sweeper.unref()
  }

  get count(): number {
    return this.#sessions.size
  }

  /**
   * Handles one request of the transport.
   *
   * @param body parsed body, if the request has one
   * @param space the only space visible to a new session
   */
  async handle(request: Request, body: unknown, caller: McpCaller, space?: string): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    if (id === null) return this.#start(request, body, caller, space)
    const session = this.#sessions.get(id)
    // The protocol requires 404, after which a client starts a new session.
    if (session === undefined || session.key !== caller.key) return toRpcError(404, -32001, 'Session not found')
    return this.#serve(session, request, body, caller)
  }

  /** Ends idle sessions. */
  async sweep(now = performance.now()): Promise<void> {
    for (const session of [...this.#sessions.values()]) {
      if (session.open === 0 && now - session.usedAt >= this.#limits.idleMs) await this.#end(session)
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper)
    for (const session of [...this.#sessions.values()]) await this.#end(session)
  }

  async #start(request: Request, body: unknown, caller: McpCaller, space?: string): Promise<Response> {
    const first: unknown = Array.isArray(body) ? body[0] : body
    if (request.method !== 'POST' || !isInitializeRequest(first))
      return toRpcError(400, -32000, 'Bad Request: Mcp-Session-Id header is required, or a request to initialize')
    if (!(await this.#ensureCapacity(caller))) return toRpcError(503, -32000, 'Too many sessions; try again later')
    const session = await this.#open(caller, space)
    const response = await this.#serve(session, request, body, caller)
    if (!response.ok) await this.#end(session)
    return response
  }

  /**
   * Ends the oldest sessions of a caller that has too many. If all sessions are taken, ends one of the tenant with the
   * most, which may be the caller's own. Sessions without an open stream end first.
   *
   * @returns whether the caller may start a session
   */
  async #ensureCapacity({ key, tenant }: McpCaller): Promise<boolean> {
    const { perCaller, most } = this.#limits
    const own = this.#sessionsOf((session) => session.key === key)
    // Concurrent requests may have exceeded the limit by several.
    for (const session of own.slice(0, Math.max(0, own.length + 1 - perCaller))) await this.#end(session)
    if (this.#sessions.size < most) return true
    await this.sweep()
    while (this.#sessions.size >= most) {
      const [oldest] = this.#largestGroup(tenant)
      if (oldest === undefined) return false
      await this.#end(oldest)
    }
    return true
  }

  /** The sessions of one caller: of the tenant with the most sessions, the caller with the most. */
  #largestGroup(tenant: string): McpSession[] {
    const all = this.#sessionsOf(() => true)
    const [largest = tenant] = findLargestHolder(groupBy(all, 'tenant'), tenant) ?? []
    const theirs = groupBy(
      all.filter((session) => session.tenant === largest),
      'key',
    )
    return [...theirs.values()].reduce((found, one) => (one.length > found.length ? one : found), [])
  }

  /** Sessions without an open stream first, then by last use. */
  #sessionsOf(isWanted: (session: McpSession) => boolean): McpSession[] {
    const found = [...this.#sessions.values()].filter(isWanted)
    return found.sort((a, b) => Number(a.open > 0) - Number(b.open > 0) || a.usedAt - b.usedAt)
  }

  async #open({ key, tenant, token, mayWrite }: McpCaller, only: string | undefined): Promise<McpSession> {
    const id = randomUUID()
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: () => this.#forget(id),
    })
    const { version, dispatch, serve = createMcpServer } = this.#options
    const api = (context?: ServerContext): GatewayApi =>
      createInProcessApi(dispatch, context?.http?.authInfo?.token ?? session.token)
    const server = serve({ version, view: { only }, mayWrite, api })
    const session: McpSession = { id, key, tenant, server, transport, token, open: 0, usedAt: performance.now() }
    this.#sessions.set(id, session)
    await server.connect(transport)
    return session
  }

  async #serve(session: McpSession, request: Request, body: unknown, caller: McpCaller): Promise<Response> {
    session.token = caller.token
    session.open++
    let isOver = false
    const ended = () => {
      // A stream whose reader disconnects ends twice: by the reader and by its source.
      if (isOver) return
      isOver = true
      session.open--
      session.usedAt = performance.now()
    }
    try {
      const response = await session.transport.handleRequest(request, {
        ...(body === undefined ? {} : { parsedBody: body }),
        authInfo: { token: caller.token, clientId: caller.key, scopes: [] },
      })
      return onResponseEnd(response, ended)
    } catch (error) {
      ended()
      throw error
    }
  }

  #forget(id: string): void {
    this.#sessions.delete(id)
  }

  async #end(session: McpSession): Promise<void> {
    this.#forget(session.id)
    await session.server.close()
  }
}

function groupBy(sessions: readonly McpSession[], field: 'tenant' | 'key'): Map<string, McpSession[]> {
  const groups = new Map<string, McpSession[]>()
  for (const session of sessions) {
    const group = groups.get(session[field])
    if (group === undefined) groups.set(session[field], [session])
    else group.push(session)
  }
  return groups
}

/** Calls `ended` after the last byte of a response, or when its reader has disconnected. */
function onResponseEnd(response: Response, ended: () => void): Response {
  if (response.body === null) {
    ended()
    return response
  }
  const reader = response.body.getReader()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        ended()
        controller.close()
      } catch (error) {
        ended()
        controller.error(error)
      }
    },
    async cancel(reason) {
      ended()
      await reader.cancel(reason)
    },
  })
  const { status, headers } = response
  return new Response(body, { status, headers })
}

function toRpcError(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status })
}
