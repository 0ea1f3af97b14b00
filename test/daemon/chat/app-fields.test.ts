import { afterAll, beforeAll, expect, test } from 'vitest'
import { bodyOf } from '../../helpers/daemon.js'
import { startEngine, type TestEngine } from '../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../helpers/fake-openai.js'
import { type ChatEdge, startChat } from './helpers.js'

const LOCAL = { pluginId: 'openai-compatible', provider: 'local' }

let fake: FakeOpenAi
let running: TestEngine
let shop: ChatEdge

beforeAll(async () => {
  fake = await startFakeOpenAi({ answer: () => 'At nine [1].' })
  running = await startEngine({
    providers: [{ ...LOCAL, baseUrl: `${fake.url}/v1` }],
    defaultGenerator: { ...LOCAL, model: 'the-default' },
  })
  shop = await startChat({}, { engine: running.engine })
})
afterAll(async () => {
  await shop.end()
  await running.end()
  await fake.close()
})

const change = (json: object) => shop.edge.send('PATCH', `/chat-apps/${shop.app.id}`, { token: shop.token, json })
const ask = async () => {
  const json = { query: 'When does the shop in Oslo open?', user: 'eve', inputs: {}, response_mode: 'blocking' }
  const answer = await shop.chat('POST', '/chat-messages', { json })
  return (await bodyOf<{ metadata: { retriever_resources: object[] } }>(answer)).metadata.retriever_resources
}

test('the field model selects the model that answers, instead of the default', async () => {
  const models = () => fake.requests.filter(({ path }) => path.endsWith('/completions')).map(({ body }) => body.model)
  await ask()
  expect(new Set(models())).toEqual(new Set(['the-default']))
  expect((await change({ model: { ...LOCAL, model: 'its-own' } })).status).toBe(200)
  await ask()
  // The default model may still receive a request for the name of the first conversation.
  expect(models()).toContain('its-own')
})

test('the field retrieverResource decides whether answers list their passages', async () => {
  expect(await ask()).not.toEqual([])
  expect((await change({ retrieverResource: false })).status).toBe(200)
  expect(await ask()).toEqual([])
})
