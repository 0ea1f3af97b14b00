import type { ChatApp, NewChatAppKey } from '../../../src/contract/chat/apps.js'
import { newId } from '../../../src/lib/ids.js'
import { bodyOf, type EdgeRequest, startEdge, type TestEdge } from '../../helpers/daemon.js'
import { ingest } from '../../helpers/engine.js'

export interface ChatEdge {
  edge: TestEdge
  /** token for the gateway */
  token: string
  app: ChatApp
  key: string
  spaceId: string
  chat(method: string, path: string, sent?: EdgeRequest): Promise<Response>
  end(): Promise<void>
}

/** A daemon with a space of opening hours and an application on it. */
export async function startChat(
  fields: Record<string, unknown> = {},
  start: Parameters<typeof startEdge>[0] = {},
): Promise<ChatEdge> {
  const edge = await startEdge(start)
  const caller = { tenant: 'tenant-a', subject: 'ada' }
  const token = edge.tokens.ada
  const space = await edge.engine.spaces.create(caller, { name: 'Shop', slug: `shop-${newId()}` })
  await ingest(edge.engine, caller, space.id, {
    'hours.md':
      '# Opening hours\n\nThe shop in Oslo opens at nine in the morning.\n\nOn Sundays the shop stays closed.\n',
    'prices.md': '# Prices\n\nA blue kettle costs forty crowns. A red kettle costs fifty crowns.\n',
  })
  const app = await bodyOf<ChatApp>(
    await edge.send('POST', '/chat-apps', {
      token,
      json: { name: 'Shop assistant', knowledgeSpaceIds: [space.id], ...fields },
    }),
  )
  const { key } = await bodyOf<NewChatAppKey>(await edge.send('POST', `/chat-apps/${app.id}/keys`, { token }))
  if (key === null) throw new Error('a new key was not shown')
  return {
    edge,
    token,
    app,
    key,
    spaceId: space.id,
    chat: (method, path, sent = {}) => edge.send(method, `/v1${path}`, { token: key, ...sent }),
    end: () => edge.end(),
  }
}

export type Event = Record<string, unknown> & { event: string }

/** The events of a stream, each of which must be a single line. */
export async function eventsOf(response: Response): Promise<Event[]> {
  const text = await response.text()
  return text
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => {
      if (!block.startsWith('data: ') || block.includes('\n')) throw new Error(`not one data line: ${block}`)
      return JSON.parse(block.slice(6))
    })
}
