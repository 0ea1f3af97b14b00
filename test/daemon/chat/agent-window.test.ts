import { afterAll, beforeAll, expect, test } from 'vitest'
import { estimateMaxTokens } from '../../../src/engine/models/tokens.js'
import { ADA, ingest, startEngine, type TestEngine } from '../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../helpers/fake-openai.js'
import { type ChatEdge, eventsOf, startChat } from './helpers.js'

const PROVIDER = { pluginId: 'openai-compatible', provider: 'fake' }
const MODEL = { ...PROVIDER, model: 'caller' }
const WINDOW = 4096
/** also matches within a truncated result, where it is part of a string */
const NEXT = /nextOffset\\?":(\d+)/
const LINE = 'The keeper of the shop writes the takings of the day into the long book of the house. '

let server: FakeOpenAi
let running: TestEngine
let chat: ChatEdge

/** Searches, reads the long document, continues where that read ended, then answers. */
function calls(messages: { role: string; content: string }[]) {
  const call = (name: string, input: object) => [{ name, arguments: JSON.stringify(input) }]
  const [listed, ...read] = messages.filter(({ role }) => role === 'tool')
  if (listed === undefined) return call('search', { query: 'What does the keeper of the shop write?' })
  const path = '/sources/uploads/book.md'
  if (read[0] === undefined) return call('list', {})
  const where = /"path":"([^"]*book[^"]*)"/.exec(read[0].content)?.[1] ?? path
  if (read[1] === undefined) return call('read', { path: where })
  if (read[2] === undefined) return call('read', { path: where, offset: Number(NEXT.exec(read[1].content)?.[1] ?? -1) })
  return []
}

beforeAll(async () => {
  server = await startFakeOpenAi({ toolCalls: calls, answer: () => 'He writes the takings [1].' })
  const providers = [{ ...PROVIDER, baseUrl: `${server.url}/v1`, contextTokens: { '*': WINDOW } }]
  running = await startEngine({ providers, defaultGenerator: MODEL })
  chat = await startChat({ mode: 'agent-chat' }, { engine: running.engine })
  await ingest(running.engine, ADA, chat.spaceId, {
    'book.md': `# The book\n\n${Array.from({ length: 400 }, (_, index) => `${index}: ${LINE}`).join('')}\n`,
  })
})
afterAll(async () => {
  await chat.end()
  await running.end()
  await server.close()
})

const ask = async () => {
  const from = server.requests.length
  const json = { query: 'What does the keeper write?', user: 'u', auto_generate_name: false }
  const events = await eventsOf(await chat.chat('POST', '/chat-messages', { json }))
  return { events, asked: server.requests.slice(from).map(({ body }) => body) }
}

test('an agent truncates tool results to the context window of its model, and reports omitted parts to the model', async () => {
  const { events, asked } = await ask()
  expect(events.at(-1)?.event).toBe('message_end')
  expect(asked).toHaveLength(5)
  for (const { messages = [], tools = [], max_tokens = 0 } of asked) {
    const told = messages.reduce((sum, { content }) => sum + estimateMaxTokens(content), 0)
    const offered = tools.length === 0 ? 0 : estimateMaxTokens(JSON.stringify(tools.map((tool) => tool.function)))
    expect(told + offered + max_tokens).toBeLessThanOrEqual(WINDOW)
  }
  const results = asked.at(-1)?.messages?.filter(({ role }) => role === 'tool') ?? []
  expect(results[0]?.content).toContain('fit')
  // The second read continues where the first one ended.
  const next = Number(NEXT.exec(results[2]?.content ?? '')?.[1])
  expect(next).toBeGreaterThan(0)
  expect(results[3]?.content).toMatch(new RegExp(`offset\\\\?":${next}\\b`))
})

test('an agent retries with shorter tool results if its model reports a smaller context window', async () => {
  const tooLong = { kind: 'status' as const, status: 400, body: '{"error":{"code":"context_length_exceeded"}}' }
  server.script({ kind: 'ok' }, { kind: 'ok' }, tooLong)
  const { events, asked } = await ask()
  expect(events.at(-1)?.event).toBe('message_end')
  expect(asked).toHaveLength(6)
  const sizeOf = (at: number) =>
    (asked[at]?.messages ?? []).reduce((sum, one) => sum + estimateMaxTokens(one.content), 0)
  expect(sizeOf(3)).toBeLessThan(sizeOf(2))
  const results = asked[3]?.messages?.filter(({ role }) => role === 'tool').map(({ content }) => content) ?? []
  expect(results.some((content) => content.includes('does not fit'))).toBe(true)
})
