import { send } from '../../api/client.js'
import { isRecord } from '../../api/session.js'
import { type ChatClient, createChatClient } from '../../chat/client.js'

const clients = new Map<string, ChatClient>()

/**
 * Returns the client of an application for its owner. The daemon starts a short-lived visit, so that the page needs no
 * key.
 */
export function getOwnerClient(appId: string): ChatClient {
  const client = clients.get(appId) ?? createChatClient(() => startVisit(appId))
  clients.set(appId, client)
  return client
}

async function startVisit(appId: string) {
  const response = await send(`/daemon/console/chats/${encodeURIComponent(appId)}`, { method: 'POST' })
  const body: unknown = await response.json()
  if (isRecord(body)) {
    const { token, user, expiresInSeconds } = body
    if (typeof token === 'string' && typeof user === 'string' && typeof expiresInSeconds === 'number')
      return { token, user, expiresInSeconds }
  }
  throw new Error('the daemon did not start a visit')
}
