import { afterAll, beforeAll, expect, test } from 'vitest'
import { bodyOf } from '../../helpers/daemon.js'
import { type ChatEdge, startChat } from './helpers.js'

let chat: ChatEdge
beforeAll(async () => {
  chat = await startChat()
})
afterAll(() => chat.end())

interface Message {
  answer: string
  conversation_id: string
  metadata: { retriever_resources: object[] }
}

const say = async (query: string, conversation_id = '') =>
  bodyOf<Message>(
    await chat.chat('POST', '/chat-messages', {
      json: { query, user: 'u', response_mode: 'blocking', conversation_id, auto_generate_name: false },
    }),
  )

test('a chat without a model answers a greeting with a greeting and thanks politely, without passages', async () => {
  const hello = await say('hello')
  expect([hello.answer, hello.metadata.retriever_resources]).toEqual(['Hello! What would you like to know?', []])
  const asked = await say('Hello, when does the shop in Oslo open?', hello.conversation_id)
  expect(asked.answer).toContain('nine')
  expect(asked.metadata.retriever_resources).not.toEqual([])
  const thanks = await say('thanks!', hello.conversation_id)
  expect([thanks.answer, thanks.metadata.retriever_resources]).toEqual([
    'You are welcome. Ask whenever there is something else.',
    [],
  ])
})

test('a query of the gateway answers a greeting with a greeting', async () => {
  const json = { knowledgeSpaceId: chat.spaceId, query: 'Guten Tag!' }
  const answered = await chat.edge.send('POST', '/queries', { token: chat.token, json })
  expect(await answered.text()).toContain('Hallo! Was möchten Sie wissen?')
})
