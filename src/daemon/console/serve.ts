import type { Context } from 'hono'
import { KsError } from '../../contract/errors.js'
import { newId } from '../../lib/ids.js'
import type { EdgeBindings, EdgeOptions } from '../edge.js'
import {
  createBaseHeaders,
  createEmptyReply,
  createErrorReply,
  getTraceId,
  type HttpReply,
  toResponse,
} from '../http/reply.js'
import type { ConsoleFiles } from './files.js'

export const CONSOLE_PATH = '/console'

/**
 * Serves the files of the console, which are the same for all clients and contain no data: only the Host is checked, so
 * that links on other sites work. The page needs a token to read data.
 */
export function createConsolePageHandler(options: EdgeOptions, files: () => Promise<ConsoleFiles>) {
  const createReply = async ({ req, env }: Context<{ Bindings: EdgeBindings }>): Promise<HttpReply> => {
    options.guard.checkHost(req.raw.headers, env?.incoming?.url ?? '/', env?.listener)
    if (req.method !== 'GET' && req.method !== 'HEAD')
      throw new KsError('method-not-allowed', `the method must be one of GET, HEAD, received ${req.method}`)
    if (req.path === CONSOLE_PATH) return createEmptyReply(308, { location: `${CONSOLE_PATH}/` })
    const file = await (await files()).get(req.path.slice(CONSOLE_PATH.length + 1), req.header('accept-encoding') ?? '')
    return { status: 200, body: req.method === 'HEAD' ? '' : file.bytes, headers: file.headers }
  }

  return async (context: Context<{ Bindings: EdgeBindings }>): Promise<Response> => {
    const release = options.work.begin()
    const base = createBaseHeaders(getTraceId(context.req.raw.headers, newId), options.identification)
    try {
      return toResponse(await createReply(context), base)
    } catch (error) {
      if (!(error instanceof KsError)) throw error
      return toResponse(
        createErrorReply(error, error.code === 'method-not-allowed' ? { allow: 'GET, HEAD' } : {}),
        base,
      )
    } finally {
      release()
    }
  }
}
