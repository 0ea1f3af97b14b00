import type { Context } from 'hono'
import { KsError } from '../../contract/errors.js'
import { quoteClipped } from '../../contract/issues.js'
import { newId } from '../../lib/ids.js'
import type { ConsoleFiles } from '../console/files.js'
import type { EdgeBindings, EdgeOptions } from '../edge.js'
import { createBaseHeaders, createErrorReply, getTraceId, type HttpReply, toResponse } from '../http/reply.js'

const PAGE_FILE = 'chat.html'

/**
 * Serves the page of a chat application, for visitors and for frames of the configured sites. It is the same file for
 * every application and contains no key: its requests use a visit.
 */
export function createChatPageHandler(options: EdgeOptions, files: () => Promise<ConsoleFiles>) {
  const createReply = async ({ req, env }: Context<{ Bindings: EdgeBindings }>): Promise<HttpReply> => {
    options.guard.checkHost(req.raw.headers, env?.incoming?.url ?? '/', env?.listener)
    const appId = decodeURIComponent(req.path.slice('/chat/'.length))
    const frames = options.deps.visits.getFrames(appId)
    if (frames === undefined)
      throw new KsError(
        'not-found',
        `no page for the chat application ${quoteClipped(appId)}: enable it in the setting chatPages`,
      )
    if (req.method !== 'GET' && req.method !== 'HEAD')
      throw new KsError('method-not-allowed', `the method must be one of GET, HEAD, received ${req.method}`)
    const { bytes, headers } = await (await files()).get(PAGE_FILE, req.header('accept-encoding') ?? '')
    const { 'cross-origin-opener-policy': _, 'cross-origin-resource-policy': __, ...keptHeaders } = headers
    const policy = headers['content-security-policy'] ?? "default-src 'none'"
    const ancestors = frames.length === 0 ? "'none'" : frames.join(' ')
    return {
      status: 200,
      body: req.method === 'HEAD' ? '' : bytes,
      headers: {
        ...keptHeaders,
        'content-security-policy': policy.replace("frame-ancestors 'none'", `frame-ancestors ${ancestors}`),
      },
    }
  }

  return async (context: Context<{ Bindings: EdgeBindings }>): Promise<Response> => {
    const release = options.work.begin()
    const base = createBaseHeaders(getTraceId(context.req.raw.headers, newId), options.identification)
    try {
      return toResponse(await createReply(context), base)
    } catch (error) {
      if (!(error instanceof KsError) && !(error instanceof URIError)) throw error
      const failure = error instanceof KsError ? error : new KsError('not-found', 'no such page')
      return toResponse(createErrorReply(failure), base)
    } finally {
      release()
    }
  }
}
