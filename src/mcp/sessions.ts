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
  /** Sessions of all callers together: a session takes some tens of kilobytes. */
  max: 1000,
  /** Sessions of one caller; a further session ends the oldest. */
  perCaller: 100,
  /** Milliseconds without a request or an open stream after which a session ends. */
  idleMs: 30 * 60_000,
}
const SWEEP_MS = 60_000
/** Error codes that JSON-RPC leaves to servers, as in the SDK. */
const SERVER_ERROR = -32000
const SESSION_NOT_FOUND = -32001

export interface McpCaller {
  /** Identity of the caller: it may use only sessions with the same key. */
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
  createServer?: (host: McpHost) => Server
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
  openRequests: number
  usedAtMs: number
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
    // A client that initializes again may still send the id of a session that has ended.
    if (id === null || isInitializeRequest(getFirstMessage(body))) return this.#start(request, body, caller, space)
    const session = this.#sessions.get(id)
    // The protocol requires 404, after which a client starts a new session.
    if (session === undefined || session.key !== caller.key)
      return toRpcError(404, SESSION_NOT_FOUND, 'Session not found')
    return this.#serve(session, request, body, caller)
  }

  /** Ends idle sessions. */
  async sweep(now = performance.now()): Promise<void> {
    for (const session of [...this.#sessions.values()]) {
      if (session.openRequests === 0 && now - session.usedAtMs >= this.#limits.idleMs) await this.#end(session)
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper)
    for (const session of [...this.#sessions.values()]) await this.#end(session)
  }

  async #start(request: Request, body: unknown, caller: McpCaller, space?: string): Promise<Response> {
    if (request.method !== 'POST' || !isInitializeRequest(getFirstMessage(body)))
      return toRpcError(400, SERVER_ERROR, 'Bad Request: Mcp-Session-Id header is required, or a request to initialize')
    if (!(await this.#ensureCapacity(caller)))
      return toRpcError(503, SERVER_ERROR, 'Too many sessions; try again later')
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
    const { perCaller, max } = this.#limits
    const own = this.#listSessions((session) => session.key === key)
    // Concurrent requests may have exceeded the limit by several.
    for (const session of own.slice(0, Math.max(0, own.length + 1 - perCaller))) await this.#end(session)
    if (this.#sessions.size < max) return true
    await this.sweep()
    while (this.#sessions.size >= max) {
      const [oldest] = this.#findLargestGroup(tenant)
      if (oldest === undefined) return false
      await this.#end(oldest)
    }
    return true
  }

  /** Finds the sessions of one caller: of the tenant with the most sessions, the caller with the most. */
  #findLargestGroup(tenant: string): McpSession[] {
    const all = this.#listSessions(() => true)
    const [largestTenant = tenant] = findLargestHolder(groupBy(all, 'tenant'), tenant) ?? []
    const sessionsByCaller = groupBy(
      all.filter((session) => session.tenant === largestTenant),
      'key',
    )
    return [...sessionsByCaller.values()].reduce(
      (largestGroup, group) => (group.length > largestGroup.length ? group : largestGroup),
      [],
    )
  }

  /** Lists sessions: those without an open stream first, then by last use. */
  #listSessions(isSelected: (session: McpSession) => boolean): McpSession[] {
    const selected = [...this.#sessions.values()].filter(isSelected)
    return selected.sort((a, b) => Number(a.openRequests > 0) - Number(b.openRequests > 0) || a.usedAtMs - b.usedAtMs)
  }

  async #open({ key, tenant, token, mayWrite }: McpCaller, onlySpace: string | undefined): Promise<McpSession> {
    const id = randomUUID()
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: () => this.#forget(id),
    })
    const { version, dispatch, createServer = createMcpServer } = this.#options
    const getApi = (context?: ServerContext): GatewayApi =>
      createInProcessApi(dispatch, context?.http?.authInfo?.token ?? session.token)
    const server = createServer({ version, selection: { onlySpace }, mayWrite, getApi })
    const usedAtMs = performance.now()
    const session: McpSession = { id, key, tenant, server, transport, token, openRequests: 0, usedAtMs }
    this.#sessions.set(id, session)
    await server.connect(transport)
    return session
  }

  async #serve(session: McpSession, request: Request, body: unknown, caller: McpCaller): Promise<Response> {
    session.token = caller.token
    session.openRequests++
    let hasEnded = false
    const onEnd = () => {
      // A stream whose reader disconnects ends twice: by the reader and by its source.
      if (hasEnded) return
      hasEnded = true
      session.openRequests--
      session.usedAtMs = performance.now()
    }
    try {
      const response = await session.transport.handleRequest(request, {
        ...(body === undefined ? {} : { parsedBody: body }),
        authInfo: { token: caller.token, clientId: caller.key, scopes: [] },
      })
      return onResponseEnd(response, onEnd)
    } catch (error) {
      onEnd()
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

/** The message of a request, or the first of several. */
function getFirstMessage(body: unknown): unknown {
  return Array.isArray(body) ? body[0] : body
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

/** Calls `onEnd` after the last byte of a response, or when its reader has disconnected. */
function onResponseEnd(response: Response, onEnd: () => void): Response {
  if (response.body === null) {
    onEnd()
    return response
  }
  const reader = response.body.getReader()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        onEnd()
        controller.close()
      } catch (error) {
        onEnd()
        controller.error(error)
      }
    },
    async cancel(reason) {
      onEnd()
      await reader.cancel(reason)
    },
  })
  const { status, headers } = response
  return new Response(body, { status, headers })
}

function toRpcError(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status })
}
