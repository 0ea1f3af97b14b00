import type { Client } from '../../client/client.js'
import { ApiError, ConnectionError } from '../../client/errors.js'
import type { RouteKey } from '../../client/routes.js'
import type { GatewayApi } from '../../mcp/api.js'

/** POST routes that change nothing: their calls can be repeated. */
const READ_ROUTES: ReadonlySet<RouteKey> = new Set([
  'POST /queries',
  'POST /knowledge-spaces/{id}/queries/search',
  'POST /research-tasks/plan',
])

/** Errors of a service that is not listening: the call had no effect. */
const REFUSED_ERRNOS: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOENT'])

export interface ReconnectingConnection {
  api: GatewayApi
  /** The current client, for work beyond a single call. */
  client(): Promise<Client>
}

/**
 * A connection for a long session: finds or starts a daemon that was killed or stopped when idle, and repeats calls
 * that had no effect.
 *
 * @param open opens a client of the current service; starts a daemon if none is running
 * @param running client of a service that is already running, found while the session starts
 */
export function createReconnectingConnection(
  open: () => Promise<Client>,
  running: Promise<Client>,
): ReconnectingConnection {
  let current: Promise<Client> | undefined
  // The first call that needs a daemon starts it, not a client that only lists tools.
  let initial: Promise<Client> | undefined = running
  running.catch(() => undefined)
  const getClient = (): Promise<Client> => {
    const opened = current ?? initial?.catch(open) ?? open()
    initial = undefined
    current = opened
    // The next call tries to start a daemon again.
    opened.catch(() => {
      if (current === opened) current = undefined
    })
    return opened
  }
  const run = async <T>(key: RouteKey, call: (client: Client) => Promise<T>): Promise<T> => {
    const opened = getClient()
    try {
      return await call(await opened)
    } catch (error) {
      if (!isRepeatable(key, error)) throw error
      // Among several failed calls, the first one reconnects.
      if (current === opened) current = undefined
      return await call(await getClient())
    }
  }
  return {
    client: getClient,
    api: {
      request: (key, input) => run(key, (client) => client.request(key, input)),
      stream: (key, input) => run(key, (client) => client.stream(key, input)),
    },
  }
}

function isRepeatable(key: RouteKey, error: unknown): boolean {
  // The token of a local daemon is renewed regularly.
  if (error instanceof ApiError) return error.status === 401
  if (!(error instanceof ConnectionError) || error.code !== 'unreachable') return false
  return REFUSED_ERRNOS.has(error.errno ?? '') || key.startsWith('GET ') || READ_ROUTES.has(key)
}
