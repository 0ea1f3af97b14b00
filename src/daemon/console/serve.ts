import type { Context } from 'hono'
import { KsError } from '../../contract/errors.js'
import { newId } from '../../lib/ids.js'
import type { EdgeBindings, EdgeOptions } from '../edge.js'
import { baseHeaders, emptyReply, errorReply, type Reply, toResponse, traceIdOf } from '../http/reply.js'
import type { ConsoleFiles } from './files.js'

export const CONSOLE = '/console'

/**
 * Serves the files of the console, which are the same for all clients and contain no data: only the Host is checked, so
 * that links on other sites work. The page needs a token to read data.
 */
export function consolePage(options: EdgeOptions, files: () => Promise<ConsoleFiles>) {
  const answer = async ({ req, env }: Context<{ Bindings: EdgeBindings }>): Promise<Reply> => {
    options.guard.checkHost(req.raw.headers, env?.incoming?.url ?? '/', env?.listener)
    if (req.method !== 'GET' && req.method !== 'HEAD')
      throw new KsError('method-not-allowed', `the method must be one of GET, HEAD, received ${req.method}`)
    if (req.path === CONSOLE) return emptyReply(308, { location: `${CONSOLE}/` })
    const found = await (await files()).get(req.path.slice(CONSOLE.length + 1), req.header('accept-encoding') ?? '')
    return { status: 200, body: req.method === 'HEAD' ? '' : found.bytes, headers: found.headers }
  }

  return async (context: Context<{ Bindings: EdgeBindings }>): Promise<Response> => {
    const release = options.work.begin()
    const base = baseHeaders(traceIdOf(context.req.raw.headers, newId), options.identification)
    try {
      return toResponse(await answer(context), base)
    } catch (error) {
      if (!(error instanceof KsError)) throw error
      return toResponse(errorReply(error, error.code === 'method-not-allowed' ? { allow: 'GET, HEAD' } : {}), base)
    } finally {
      release()
    }
  }
}
