import type { Client } from '../../client/client.js'
import { ApiError, ConnectionError } from '../../client/errors.js'
import type { RouteKey } from '../../client/routes.js'
import type { Api } from '../../mcp/api.js'

/** Calls that change nothing: they may be made twice. */
const READS: ReadonlySet<RouteKey> = new Set([
  'POST /queries',
  'POST /knowledge-spaces/{id}/queries/search',
  'POST /research-tasks/plan',
])

/** Nothing listened, so nothing was done. */
const REFUSED: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOENT'])

export interface Connection {
  api: Api
  /** the client of now, for what is no single call */
  client(): Promise<Client>
}

/**
 * The service as it is now, for as long as a session takes: a daemon that was killed, or that left because nobody used
 * it, is found or started again, and a call that it took nothing of is made anew.
 *
 * @param open a client of the service as it is now; starts a daemon where there is none
 * @param running a client of the service where it runs already, looked for while the session begins
 */
export function reconnecting(open: () => Promise<Client>, running: Promise<Client>): Connection {
  let current: Promise<Client> | undefined
  // a daemon is started by the first call that needs one, not by a client that only asks which tools there are
  let first: Promise<Client> | undefined = running
  running.catch(() => undefined)
  const client = (): Promise<Client> => {
    const opened = current ?? first?.catch(open) ?? open()
    first = undefined
    current = opened
    // a daemon that did not start may do so at the next call
    opened.catch(() => {
      if (current === opened) current = undefined
    })
    return opened
  }
  const run = async <T>(key: RouteKey, work: (client: Client) => Promise<T>): Promise<T> => {
    const opened = client()
    try {
      return await work(await opened)
    } catch (error) {
      if (!mayRepeat(key, error)) throw error
      // of several calls that broke, the first one opens
      if (current === opened) current = undefined
      return await work(await client())
    }
  }
  return {
    client,
    api: {
      request: (key, input) => run(key, (client) => client.request(key, input)),
      stream: (key, input) => run(key, (client) => client.stream(key, input)),
    },
  }
}

function mayRepeat(key: RouteKey, error: unknown): boolean {
  // the token of a local daemon is another after some time
  if (error instanceof ApiError) return error.status === 401
  if (!(error instanceof ConnectionError) || error.code !== 'unreachable') return false
  return REFUSED.has(error.errno ?? '') || key.startsWith('GET ') || READS.has(key)
}
