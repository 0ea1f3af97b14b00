import { afterAll, beforeAll, expect, test } from 'vitest'
import { bodyOf } from '../../helpers/daemon.js'
import { startEngine, type TestEngine } from '../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../helpers/fake-openai.js'
import { until } from '../../helpers/until.js'
import { type ChatEdge, type Event, eventsOf, startChat } from './helpers.js'

const PROVIDER = { pluginId: 'openai-compatible', provider: 'fake' }
const MODEL = { ...PROVIDER, model: 'caller' }

type Messages = { role: string; content: string }[]

let server: FakeOpenAi
let running: TestEngine
let chat: ChatEdge

/** Lists first, then searches and reads in one step, then answers; `endless` never answers. */
function calls(messages: Messages) {
  const asked = messages.findLast(({ role }) => role === 'user')?.content ?? ''
  const answers = messages.filter(({ role }) => role === 'tool')
  const call = (name: string, input: object) => ({ name, arguments: JSON.stringify(input) })
  if (asked === 'endless') return [call('list', {})]
  if (asked === 'wrong')
    return answers.length === 0 ? [{ name: 'search', arguments: '{"query":' }, call('fly', {})] : []
  if (asked.startsWith('plain')) return []
  if (answers.length === 0) return [call('list', {})]
  if (answers.length > 1) return []
  const path = /"path":"([^"]*hours[^"]*)"/.exec(answers[0]?.content ?? '')?.[1] ?? '/sources/none'
  return [call('search', { query: 'When does the shop in Oslo open?' }), call('read', { path })]
}

beforeAll(async () => {
  server = await startFakeOpenAi({
    toolCalls: calls,
    answer: (messages) => (calls(messages).length === 0 ? 'It opens at nine [1].' : 'Let me look.'),
  })
  running = await startEngine({ providers: [{ ...PROVIDER, baseUrl: `${server.url}/v1` }], defaultGenerator: MODEL })
  chat = await startChat({ mode: 'agent-chat' }, { engine: running.engine })
})
afterAll(async () => {
  await chat.end()
  await running.end()
  await server.close()
})

async function ask(query: string): Promise<Event[]> {
  const json = { query, user: 'u', auto_generate_name: false }
  return eventsOf(await chat.chat('POST', '/chat-messages', { json }))
}

function thoughtsOf(events: Event[]): Event[] {
  return events.filter(({ event }) => event === 'agent_thought')
}

/** Event names without repetitions in a row. */
function kindsOf(events: Event[]): string[] {
  return events.map(({ event }) => event).filter((event, at, all) => event !== all[at - 1] || event === 'agent_thought')
}

test('an agent lists, searches and reads documents, and sends its events in the order that clients expect', async () => {
  const from = server.requests.length
  const events = await ask('When do you open?')
  expect(kindsOf(events)).toEqual([
    'ping',
    'agent_thought',
    'agent_message',
    'agent_thought',
    'agent_thought',
    'agent_thought',
    'agent_message',
    'agent_thought',
    'agent_thought',
    'agent_thought',
    'agent_message',
    'agent_thought',
    'message_end',
  ])
  const thoughts = thoughtsOf(events)
  for (const { thought, observation, tool, tool_input, message_files } of thoughts) {
    for (const text of [thought, observation, tool, tool_input]) expect(text).toEqual(expect.any(String))
    expect(message_files).toEqual([])
  }
  expect(thoughts.map(({ position }) => position)).toEqual([1, 1, 1, 2, 2, 2, 3, 3])
  expect(new Set(thoughts.map(({ id }) => id)).size).toBe(3)
  expect(thoughts[0]).toMatchObject({ thought: '', tool: '', tool_input: '', observation: '' })
  expect(thoughts[2]).toMatchObject({ tool: 'list', tool_input: '{"list":{}}' })
  expect(thoughts[4]).toMatchObject({ tool: 'search;read', observation: '' })
  const observed = JSON.parse(String(thoughts[5]?.observation))
  expect(observed.search).toContain('nine in the morning')
  expect(observed.read).toContain('On Sundays the shop stays closed')

  const end = events.at(-1)
  const { usage, retriever_resources } = JSON.parse(JSON.stringify(end?.metadata))
  expect(retriever_resources[0]).toMatchObject({ position: 1, document_name: 'hours.md' })
  const asked = server.requests.slice(from)
  expect(asked).toHaveLength(3)
  expect(usage.completion_tokens).toBe(3 + 3 + 5)
  const roles = asked.at(-1)?.body.messages?.map(({ role }) => role)
  expect(roles).toEqual(['system', 'user', 'assistant', 'tool', 'assistant', 'tool', 'tool'])

  const page = await chat.chat('GET', `/messages?user=u&conversation_id=${end?.conversation_id}`)
  const [message] = (await bodyOf<{ data: Record<string, unknown>[] }>(page)).data
  expect(message?.answer).toBe('Let me look.\n\nLet me look.\n\nIt opens at nine [1].')
  expect(message?.agent_thoughts).toMatchObject([
    { position: 1, tool: 'list', files: [], message_id: end?.message_id },
    { position: 2, tool: 'search;read', observation: thoughts[5]?.observation },
    { position: 3, tool: '', tool_input: '', observation: '', thought: 'It opens at nine [1].' },
  ])
})

test('an agent has at most five steps, and its model gets no tools in the fifth step', async () => {
  const from = server.requests.length
  const events = await ask('endless')
  expect(thoughtsOf(events).at(-1)).toMatchObject({ position: 5, tool: '' })
  expect(events.at(-1)?.event).toBe('message_end')
  const tools = server.requests.slice(from).map(({ body }) => body.tools?.map(({ function: { name } }) => name))
  const all = ['search', 'list', 'read']
  expect(tools).toEqual([all, all, all, all, undefined])
})

test('an agent reports an invalid tool call to the model, which then continues', async () => {
  const events = await ask('wrong')
  const observed = JSON.parse(String(thoughtsOf(events)[2]?.observation))
  expect(observed.search).toContain('must be a JSON object')
  expect(observed.fly).toContain('there is no tool')
  expect(events.at(-1)?.event).toBe('message_end')
})

test('an agent answers in one step if the model calls no tool', async () => {
  expect(kindsOf(await ask('plain'))).toEqual([
    'ping',
    'agent_thought',
    'agent_message',
    'agent_thought',
    'message_end',
  ])
})

test('an agent application refuses blocking mode; /info and /meta describe it as agent-chat with its tools', async () => {
  const json = { query: 'hi', user: 'u', response_mode: 'blocking' }
  const refused = await chat.chat('POST', '/chat-messages', { json })
  expect(await refused.json()).toMatchObject({
    code: 'invalid_param',
    message: 'Agent Chat App does not support blocking mode',
    status: 400,
  })
  expect(await (await chat.chat('GET', '/info')).json()).toMatchObject({ mode: 'agent-chat' })
  const { tool_icons } = await bodyOf<{ tool_icons: object }>(await chat.chat('GET', '/meta'))
  expect(Object.keys(tool_icons)).toEqual(['search', 'list', 'read'])
})

test('the tokens of an agent count towards the daily token budget of its space', async () => {
  const used = async () =>
    (await running.engine.models.inUse()).budgets.find(({ counter }) => counter === 'llmTokens')?.used ?? 0
  const before = await used()
  await ask('plain, please')
  await until(async () => (await used()) > before)
})
