import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ChatApp, NewChatAppKey } from '../../../src/contract/chat/apps.js'
import { bodyOf } from '../../helpers/daemon.js'
import { startEngine, type TestEngine } from '../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../helpers/fake-openai.js'
import { type ChatEdge, startChat } from './helpers.js'

const PROVIDER = { pluginId: 'openai-compatible', provider: 'fake' }
/** enough for a few short answers */
const BUDGET = 4000

let server: FakeOpenAi
let running: TestEngine
let chat: ChatEdge
beforeAll(async () => {
  server = await startFakeOpenAi({ answer: () => 'word '.repeat(300) })
  running = await startEngine({
    providers: [{ ...PROVIDER, baseUrl: `${server.url}/v1` }],
    defaultGenerator: { ...PROVIDER, model: 'm' },
    quotas: { maxLlmTokensPerDay: BUDGET },
  })
  chat = await startChat({}, { engine: running.engine })
})
afterAll(async () => {
  await chat.end()
  await running.end()
  await server.close()
})

/** Sends some questions to an application without a space. @returns error codes of the refused ones */
async function askOften(token: string, times: number, more: object = {}): Promise<string[]> {
  const app = await bodyOf<ChatApp>(
    await chat.edge.send('POST', '/chat-apps', { token, json: { name: 'Free', ...more } }),
  )
  const made = await chat.edge.send('POST', `/chat-apps/${app.id}/keys`, { token })
  const { key } = await bodyOf<NewChatAppKey>(made)
  if (key === null) throw new Error('a new key was not shown')
  const codes: string[] = []
  for (let sent = 0; sent < times; sent++) {
    const json = { query: 'Write a poem', user: `u${sent}`, response_mode: 'blocking', auto_generate_name: false }
    const answer = await chat.edge.send('POST', '/v1/chat-messages', { token: key, json })
    if (answer.status !== 200) codes.push((await bodyOf<{ code: string }>(answer)).code)
  }
  return codes
}

test('applications of a tenant without a space share the daily budget of the deployment', async () => {
  const { ada, bob } = chat.edge.tokens
  const refused = await askOften(ada, 20)
  expect(refused.length).toBeGreaterThan(0)
  expect(new Set(refused)).toEqual(new Set(['provider_quota_exceeded']))
  const from = server.requests.length
  // a second application has no separate budget
  expect(await askOften(ada, 2)).toHaveLength(2)
  expect(server.requests.length - from).toBe(0)
  // Another tenant has a separate budget.
  expect(await askOften(bob, 1)).toEqual([])
})
