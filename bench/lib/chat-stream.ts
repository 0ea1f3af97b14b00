import { type Agent, request } from 'node:http'
import type { Client } from '../../src/client/client.js'

export interface ChatStream {
  status: number
  pingMs: number
  /** it ended with `message_end` and held every word */
  whole: boolean
}

/** Who is asked; how many events with words of the answer are expected. */
export interface ChatService {
  url: string
  key: string
  agent: Agent
  words: number
}

/** Makes an application. @returns a key of it */
export async function chatKey(client: Client, body: { name: string; knowledgeSpaceIds?: string[] }): Promise<string> {
  const app = await client.request('POST /chat-apps', { body })
  const { key } = await client.request('POST /chat-apps/{appId}/keys', { path: { appId: app.id } })
  if (!key) throw new Error('the key was not shown')
  return key
}

/** One streamed answer to a user of its own, read to its end. */
export function chatStream({ url, key, agent, words }: ChatService, query: string): Promise<ChatStream> {
  const body = JSON.stringify({ query, user: `user-${query}`, auto_generate_name: false })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const started = performance.now()
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/v1/chat-messages`, { method: 'POST', agent, headers }, (response) => {
      let pingMs = Number.POSITIVE_INFINITY
      let text = ''
      response.setEncoding('utf8').on('data', (piece: string) => {
        if (text === '') pingMs = performance.now() - started
        text += piece
      })
      response.on('error', reject).on('end', () => {
        const heard = text.match(/"event":"message",/g)?.length ?? 0
        const whole = heard === words && text.includes('"event":"message_end"')
        resolve({ status: response.statusCode ?? 0, pingMs, whole })
      })
    })
    sent.on('error', reject).end(body)
  })
}
