import { send } from '../../api/client.js'
import { isRecord } from '../../api/session.js'
import { type ChatClient, chatClient } from '../../chat/client.js'

const known = new Map<string, ChatClient>()

/**
 * Client of an application for its owner. The daemon issues a short-lived visit, so that the page never holds a key.
 */
export function ownerClient(appId: string): ChatClient {
  const client = known.get(appId) ?? chatClient(() => begin(appId))
  known.set(appId, client)
  return client
}

async function begin(appId: string) {
  const response = await send(`/daemon/console/chats/${encodeURIComponent(appId)}`, { method: 'POST' })
  const answer: unknown = await response.json()
  if (isRecord(answer)) {
    const { token, user, expiresInSeconds } = answer
    if (typeof token === 'string' && typeof user === 'string' && typeof expiresInSeconds === 'number')
      return { token, user, expiresInSeconds }
  }
  throw new Error('the daemon did not start a visit')
}
