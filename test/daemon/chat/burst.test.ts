import { afterAll, beforeAll, expect, test } from 'vitest'
import { bodyOf } from '../../helpers/daemon.js'
import { type ChatEdge, startChat } from './helpers.js'

const MESSAGES = 40

let chat: ChatEdge

beforeAll(async () => {
  chat = await startChat()
})
afterAll(() => chat.end())

/** Sends a message and reads its stream up to the first event. */
async function opened(query: string) {
  const response = await chat.chat('POST', '/chat-messages', { json: { query, user: query } })
  const reader = response.body?.getReader()
  const chunk = await reader?.read()
  const first = JSON.parse(new TextDecoder().decode(chunk?.value).split('\n\n')[0]?.slice(6) ?? '')
  const rest = async () => {
    let text = ''
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read())
      text += new TextDecoder().decode(part.value)
    return text
  }
  return { query, first, rest }
}

async function history(user: string, conversationId: string) {
  const path = `/messages?user=${user}&conversation_id=${conversationId}`
  const page = await bodyOf<{ data: { query: string; status: string }[] }>(await chat.chat('GET', path))
  return page.data.map(({ query }) => query)
}

test('in a burst of 40 streams, every message is readable and can be followed up right after its first event', async () => {
  const streams = await Promise.all(
    Array.from({ length: MESSAGES }, async (_, n) => {
      const stream = await opened(`question ${n}`)
      expect(stream.first.event).toBe('ping')
      const { conversation_id } = stream.first
      if (n % 2 === 0) expect(await history(stream.query, conversation_id)).toEqual([stream.query])
      else {
        const json = { query: 'and then?', user: stream.query, conversation_id, response_mode: 'blocking' }
        expect((await chat.chat('POST', '/chat-messages', { json })).status).toBe(200)
        expect(await history(stream.query, conversation_id)).toEqual([stream.query, 'and then?'])
      }
      return stream
    }),
  )
  for (const stream of streams) expect(await stream.rest()).toContain('"event":"message_end"')
})

test('in a burst of follow-up messages, each is answered in its own conversation', async () => {
  const begun = await Promise.all(
    Array.from({ length: MESSAGES }, async (_, n) => {
      const stream = await opened(`first ${n}`)
      await stream.rest()
      return stream
    }),
  )
  await Promise.all(
    begun.map(async ({ query, first: { conversation_id } }) => {
      const json = { query: `second of ${query}`, user: query, conversation_id }
      const text = await (await chat.chat('POST', '/chat-messages', { json })).text()
      expect(text).toContain('"event":"message_end"')
      expect(await history(query, conversation_id)).toEqual([query, `second of ${query}`])
    }),
  )
})

test('in a burst of answers that are stopped at their first event, each answer is stored exactly once', async () => {
  const streams = await Promise.all(
    Array.from({ length: MESSAGES }, async (_, n) => {
      const stream = await opened(`stopped ${n}`)
      const { task_id } = stream.first
      const stop = await chat.chat('POST', `/chat-messages/${task_id}/stop`, { json: { user: stream.query } })
      expect(await stop.json()).toEqual({ result: 'success' })
      return stream
    }),
  )
  for (const stream of streams) {
    expect(await stream.rest()).toContain('"event":"message_end"')
    expect(await history(stream.query, stream.first.conversation_id)).toEqual([stream.query])
  }
})

test('an application that is deleted during a burst leaves no stream open', async () => {
  const app = await bodyOf<{ id: string }>(
    await chat.edge.send('POST', '/chat-apps', {
      token: chat.token,
      json: { name: 'Short-lived', knowledgeSpaceIds: [chat.spaceId] },
    }),
  )
  const made = await chat.edge.send('POST', `/chat-apps/${app.id}/keys`, { token: chat.token })
  const { key } = await bodyOf<{ key: string }>(made)
  const sends = Array.from({ length: MESSAGES }, (_, n) =>
    chat.edge.send('POST', '/v1/chat-messages', { token: key, json: { query: `late ${n}`, user: `late ${n}` } }),
  )
  const gone = chat.edge.send('DELETE', `/chat-apps/${app.id}`, { token: chat.token })
  const texts = await Promise.all(sends.map(async (sent) => (await sent).text()))
  expect((await gone).status).toBe(204)
  for (const text of texts) expect(text).toMatch(/"event":"(message_end|error)"|"code":"unauthorized"/)
})
