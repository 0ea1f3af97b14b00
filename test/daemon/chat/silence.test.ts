import { afterAll, beforeAll, expect, test } from 'vitest'
import { research, spaceWith } from '../../engine/answers/research/helpers.js'
import { bodyOf } from '../../helpers/daemon.js'
import { ADA, startEngine, type TestEngine } from '../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../helpers/fake-openai.js'
import { type ChatEdge, startChat } from './helpers.js'

const PROVIDER = { pluginId: 'openai-compatible', provider: 'fake' }
const MODEL = { ...PROVIDER, model: 'talker' }

let reply = ''
let server: FakeOpenAi
let running: TestEngine
let chat: ChatEdge

beforeAll(async () => {
  server = await startFakeOpenAi({ answer: () => reply })
  running = await startEngine({ providers: [{ ...PROVIDER, baseUrl: `${server.url}/v1` }], defaultGenerator: MODEL })
  chat = await startChat({}, { engine: running.engine })
})
afterAll(async () => {
  await chat.end()
  await running.end()
  await server.close()
})

/** The last event of a turn of a new application. */
async function turn(fields: object): Promise<unknown> {
  const { edge, token } = chat
  const made = await edge.send('POST', '/chat-apps', { token, json: { name: 'App', ...fields } })
  const { id } = await bodyOf<{ id: string }>(made)
  const { key } = await bodyOf<{ key: string }>(await edge.send('POST', `/chat-apps/${id}/keys`, { token }))
  const json = { query: 'How much is a blue kettle?', user: 'u', response_mode: 'streaming' }
  const text = await (await edge.send('POST', '/v1/chat-messages', { token: key, json })).text()
  return JSON.parse(text.trim().split('\n\n').at(-1)?.slice(6) ?? '')
}

test.each(['', ' \n', '<think>Hm.</think>', '<think>Hm'])(
  'a chat turn ends with an error event if the model answers %j, alone and as an agent, and with a quotation over a space',
  async (said) => {
    reply = said
    expect(await turn({ knowledgeSpaceIds: [chat.spaceId], model: MODEL })).toMatchObject({
      event: 'message_end',
      metadata: { degraded: true },
    })
    for (const fields of [{}, { mode: 'agent-chat' }])
      expect(await turn({ ...fields, model: MODEL })).toMatchObject({
        event: 'error',
        code: 'completion_request_error',
        message: 'the model ended its answer without a word',
      })
  },
)

test('a section that the model leaves empty in a research report consists of passages', async () => {
  reply = '<think>I should write this.</think> [1]'
  const id = await spaceWith(running.engine)
  const task = await research(running.engine, id)
  const report = await running.engine.research.report(ADA, task.id)
  expect(report.generator).toBe('extractive')
  expect(report.sections.map(({ answer }) => answer)).toEqual([
    expect.stringContaining('The moon pulls the sea'),
    expect.stringContaining('Augustin Fresnel invented'),
  ])
})
