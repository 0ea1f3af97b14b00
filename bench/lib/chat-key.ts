import type { Client } from '../../src/client/client.js'

/** Creates a chat application with a key, and returns the key. */
export async function createChatKey(
  client: Client,
  body: { name: string; knowledgeSpaceIds?: string[] },
): Promise<string> {
  const app = await client.request('POST /chat-apps', { body })
  const { key } = await client.request('POST /chat-apps/{appId}/keys', { path: { appId: app.id } })
  if (!key) throw new Error('the key was not shown')
  return key
}
