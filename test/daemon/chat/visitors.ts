import type { ChatApp, NewChatAppKey } from '../../../src/contract/chat/apps.js'
import { bodyOf, startEdge, type TestEdge } from '../../helpers/daemon.js'
import { type ChatEdge, startChat } from './helpers.js'

interface Visit {
  token: string
  user: string
}

/** A caller of an application: a visitor of its page, or a client with a key. */
export interface ChatCaller {
  user: string
  call(method: string, path: string, json?: object): Promise<Response>
  /** Sends a question. */
  ask(query: string, more?: object): Promise<Response>
}

export interface VisitedChat {
  chat: ChatEdge
  /** A new visitor of the page of the application. */
  visit(app?: ChatApp): Promise<ChatCaller>
  /** A client with a key of the application. */
  holder(app?: ChatApp): Promise<ChatCaller>
  /** Another application, with a page. */
  create(fields: object): Promise<ChatApp>
  /** The page of an application, on a daemon with additional settings. */
  serve(apps: readonly ChatApp[], settings?: object): Promise<void>
  end(): Promise<void>
}

/** A daemon with an application that has a page for visitors. */
export async function startVisited(
  fields: Record<string, unknown> = {},
  start: Parameters<typeof startChat>[1] = {},
): Promise<VisitedChat> {
  const chat = await startChat(fields, start)
  const edges: TestEdge[] = []
  let edge = chat.edge
  const caller = ({ token, user }: Visit): ChatCaller => {
    const call = (method: string, path: string, json?: object) =>
      edge.send(method, `/v1${path}`, { token, ...(json === undefined ? {} : { json }) })
    const ask = (query: string, more: object = {}) => {
      return call('POST', '/chat-messages', { query, user, auto_generate_name: false, ...more })
    }
    return { user, call, ask }
  }
  const visited: VisitedChat = {
    chat,
    visit: async (app = chat.app) =>
      caller(await bodyOf<Visit>(await edge.send('POST', `/chat/${app.id}/visits`, { json: {} }))),
    holder: async (app = chat.app) => {
      const made = await chat.edge.send('POST', `/chat-apps/${app.id}/keys`, { token: chat.token })
      const { key } = await bodyOf<NewChatAppKey>(made)
      if (key === null) throw new Error('a new key was not shown')
      return caller({ token: key, user: 'holder' })
    },
    create: async (more) =>
      bodyOf<ChatApp>(
        await chat.edge.send('POST', '/chat-apps', { token: chat.token, json: { name: 'Other', ...more } }),
      ),
    serve: async (apps, settings = {}) => {
      const chatPages = apps.map(({ id }) => `tenant-a/${id}`)
      edge = await startEdge({ engine: chat.edge.engine, settings: { chatPages, ...settings } })
      edges.push(edge)
    },
    end: async () => {
      await Promise.all(edges.map((one) => one.end()))
      await chat.end()
    },
  }
  await visited.serve([chat.app])
  return visited
}
