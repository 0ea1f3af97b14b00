import { afterAll, beforeAll, expect, test } from 'vitest'
import { bodyOf } from '../../helpers/daemon.js'
import { startEngine, type TestEngine } from '../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../helpers/fake-openai.js'
import { type ChatEdge, eventsOf, startChat } from './helpers.js'

const MODEL = { pluginId: 'openai-compatible', provider: 'fake', model: 'meaning' }

let server: FakeOpenAi
let running: TestEngine
let chat: ChatEdge

beforeAll(async () => {
  server = await startFakeOpenAi({ dimension: 32 })
  const { pluginId, provider } = MODEL
  running = await startEngine({
    providers: [{ pluginId, provider, baseUrl: `${server.url}/v1` }],
    defaultEmbedding: MODEL,
  })
  chat = await startChat({}, { engine: running.engine })
})
afterAll(async () => {
  await chat.end()
  await running.end()
  await server.close()
})

const send = (mode: 'streaming' | 'blocking') =>
  chat.chat('POST', '/chat-messages', {
    json: { query: 'When does the shop in Oslo open?', user: 'u1', response_mode: mode },
  })

test('a chat answer without vector search reports degraded and its class, blocking and streamed', async () => {
  const told = { degraded: true, degraded_class: 'auth' }
  const reason = 'the question could not be embedded: provider "fake" refused the credentials (401)'
  server.script({ kind: 'status', status: 401 })
  const whole = await bodyOf<{ answer: string; metadata: object }>(await send('blocking'))
  expect(whole.answer).toContain('nine')
  expect(whole.metadata).toMatchObject({ ...told, degraded_reasons: expect.arrayContaining([reason]) })

  server.script({ kind: 'status', status: 401 })
  const end = (await eventsOf(await send('streaming'))).at(-1)
  expect(end).toMatchObject({ event: 'message_end', metadata: told })
})

test('a chat answer with everything that is configured has no key degraded in its metadata', async () => {
  await expect
    .poll(async () => (await bodyOf<{ metadata: object }>(await send('blocking'))).metadata)
    .not.toHaveProperty('degraded')
})
