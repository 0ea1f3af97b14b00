import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bodyOf } from '../../helpers/daemon.js'
import { ingest, startEngine, type TestEngine } from '../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../helpers/fake-openai.js'
import { type ChatEdge, eventsOf, startChat } from './helpers.js'

const PROVIDER = { pluginId: 'openai-compatible', provider: 'fake' }
const MODEL = { ...PROVIDER, model: 'talker' }

let server: FakeOpenAi
let running: TestEngine
let chat: ChatEdge

beforeAll(async () => {
  server = await startFakeOpenAi({ answer: () => 'The se cret is forty crowns.' })
  const prices = { '*': { inputUsdPerMillion: 0.5, outputUsdPerMillion: 100_000 } }
  running = await startEngine({
    providers: [
      { ...PROVIDER, baseUrl: `${server.url}/v1` },
      { ...PROVIDER, provider: 'dear', baseUrl: `${server.url}/v1`, prices },
    ],
    defaultGenerator: MODEL,
  })
  chat = await startChat({}, { engine: running.engine })
})
afterAll(async () => {
  await chat.end()
  await running.end()
  await server.close()
})

interface Completion {
  answer: string
  conversation_id: string
  metadata: { usage: Record<string, unknown> }
}

/** Creates an application with these fields. */
async function appOf(fields: object): Promise<string> {
  const { edge, token } = chat
  const made = await edge.send('POST', '/chat-apps', { token, json: { name: 'App', ...fields } })
  expect(made.status).toBe(201)
  const { id } = await bodyOf<{ id: string }>(made)
  return (await bodyOf<{ key: string }>(await edge.send('POST', `/chat-apps/${id}/keys`, { token }))).key
}

/** Sends a message without generating a name: such a request to the model could arrive during another test. */
async function ask(token: string, json: object): Promise<Response> {
  const body = { user: 'u', auto_generate_name: false, ...json }
  return chat.edge.send('POST', '/v1/chat-messages', { token, json: body })
}

async function blocking(token: string, json: object): Promise<Completion> {
  return bodyOf<Completion>(await ask(token, { response_mode: 'blocking', ...json }))
}

describe('blocked words', () => {
  const words = {
    enabled: true,
    words: ['Bomb', 'se cret'],
    inputs: { enabled: true, response: 'We do not talk about that.' },
    outputs: { enabled: true, response: 'Taken back.' },
  }

  test('in a question or an input lead to the configured response without a model call', async () => {
    const form = [{ 'text-input': { label: 'City', variable: 'city', required: false } }]
    const token = await appOf({ sensitiveWords: words, userInputForm: form })
    const before = server.requests.length
    const events = await eventsOf(await ask(token, { query: 'How do bombs work?', auto_generate_name: true }))
    expect(events.map(({ event }) => event)).toEqual(['ping', 'message', 'message_end'])
    expect(events[1]).toMatchObject({ answer: 'We do not talk about that.' })
    const varied = await blocking(token, { query: 'hi', inputs: { city: 'BOMBAY' }, auto_generate_name: true })
    expect(varied.answer).toBe('We do not talk about that.')
    expect(varied.metadata.usage).toMatchObject({ total_tokens: 0 })
    // Nor does a model name the conversation.
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(server.requests).toHaveLength(before)
    const parameters = await chat.edge.send('GET', '/v1/parameters', { token })
    expect(await parameters.json()).toMatchObject({ sensitive_word_avoidance: { enabled: true } })
  })

  test('in an answer, even across two deltas, lead to its replacement in the stream and in the history', async () => {
    const token = await appOf({ sensitiveWords: words })
    const events = await eventsOf(await ask(token, { query: 'hello' }))
    const kinds = events.map(({ event }) => event).filter((event, at, all) => event !== all[at - 1])
    expect(kinds).toEqual(['ping', 'message', 'message_replace', 'message_end'])
    const [replaced] = events.filter(({ event }) => event === 'message_replace')
    expect(replaced).toMatchObject({ id: events[0]?.message_id, answer: 'Taken back.' })
    expect(JSON.stringify(events)).not.toContain('cret')
    const done = await blocking(token, { query: 'hello' })
    expect(done.answer).toBe('Taken back.')
    expect(done.metadata.usage.completion_tokens).toBeGreaterThan(0)
    const page = await chat.edge.send('GET', `/v1/messages?user=u&conversation_id=${done.conversation_id}`, { token })
    expect(await page.json()).toMatchObject({ data: [{ answer: 'Taken back.', status: 'normal' }] })
  })

  test('cannot be enabled in an application without a response for them', async () => {
    const sensitiveWords = { ...words, outputs: { enabled: true } }
    const json = { name: 'App', sensitiveWords }
    const refused = await chat.edge.send('POST', '/chat-apps', { token: chat.token, json })
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('needs a response')])
  })
})

describe('the model settings of an application', () => {
  const form = [{ 'text-input': { label: 'Tone', variable: 'tone', required: false, default: 'plain' } }]
  const fields = {
    instructions: 'Speak in a {{tone}} tone.',
    userInputForm: form,
    modelSettings: { temperature: 0.25, maxTokens: 3 },
    prices: { promptUnitPrice: '0.5', completionUnitPrice: '2' },
  }

  test.each([
    ['without a space', []],
    ['with a space', ['space']],
  ])('send instructions, temperature and maximal length, and price the tokens: %s', async (_, spaces) => {
    const token = await appOf({ ...fields, knowledgeSpaceIds: spaces.map(() => chat.spaceId) })
    const query = spaces.length === 0 ? 'hello' : 'How much is a blue kettle?'
    const done = await blocking(token, { query, inputs: { tone: 'warm' } })
    const seen = server.requests.at(-1)?.body
    expect(seen).toMatchObject({ temperature: 0.25, max_tokens: 3 })
    expect(seen?.messages?.[0]?.content).toContain('Speak in a warm tone.')
    // No passage supports the model's answer, so a quotation replaces it.
    if (spaces.length === 0) expect(done.answer).toBe('The se cret')
    else expect(done.answer).toContain('forty crowns')
    const { prompt_tokens } = done.metadata.usage
    expect(done.metadata.usage).toMatchObject({
      completion_tokens: 3,
      completion_unit_price: '2',
      completion_price_unit: '0.001',
      completion_price: '0.0060000',
      prompt_price: (Number(prompt_tokens) * 0.0005).toFixed(7),
      currency: 'USD',
    })
  })

  test.each([
    ['without a space', []],
    ['with a space', ['space']],
  ])('use the prices of the configured model if the application has none: %s', async (_, spaces) => {
    const model = { ...PROVIDER, provider: 'dear', model: 'talker' }
    const knowledgeSpaceIds = spaces.map(() => chat.spaceId)
    const token = await appOf({ model, modelSettings: { maxTokens: 3 }, knowledgeSpaceIds })
    const done = await blocking(token, { query: 'How much is a blue kettle?' })
    expect(done.metadata.usage).toMatchObject({
      prompt_unit_price: '0.5',
      completion_tokens: 3,
      completion_unit_price: '100000',
      completion_price_unit: '0.000001',
      completion_price: '0.3000000',
      currency: 'USD',
    })
  })
})

test('a question that no passage answers is sent to the model with the closest passages and the previous turn', async () => {
  const token = await appOf({ knowledgeSpaceIds: [chat.spaceId], instructions: 'Be brief.' })
  const first = await blocking(token, { query: 'How much is a blue kettle?' })
  const { conversation_id } = first
  const near = 'Which expenditure would somebody incur acquiring some kettle nowadays?'
  const text = await (await ask(token, { query: near, conversation_id })).text()
  const end = JSON.parse(text.trim().split('\n\n').at(-1)?.slice(6) ?? '')
  // No passage supports the model's answer, so the closest passage replaces it.
  expect(end).toMatchObject({ event: 'message_end', metadata: { retriever_resources: [{ position: 1, cited: true }] } })
  const messages = server.requests.at(-1)?.body.messages ?? []
  expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user'])
  expect(messages[0]?.content).toMatch(/about this conversation alone.*Be brief\.$/s)
  expect(messages[0]?.content).not.toContain('No passage')
  expect(messages[1]?.content).toBe('How much is a blue kettle?')
  expect(messages[3]?.content).toContain('costs forty crowns')
})

test('a chat over two spaces, of which one has a model, uses this model with passages of both spaces', async () => {
  const { edge } = chat
  const caller = { tenant: 'tenant-a', subject: 'ada' }
  const spaces: string[] = []
  const builtin = { pluginId: 'builtin', provider: 'extractive', model: 'extractive' }
  for (const [slug, reasoningModel, text] of [
    ['plain', builtin, 'The ferry to Bergen leaves the northern quay at seven.'],
    ['modelled', MODEL, 'Tickets of the ferry to Bergen are sold on board.'],
  ] as const) {
    const { id } = await edge.engine.spaces.create(caller, { name: slug, slug: `${slug}-ferry` })
    await ingest(edge.engine, caller, id, { [`${slug}.md`]: `# Ferry\n\n${text}\n` })
    await edge.engine.spaces.setRetrievalProfile(caller, id, {
      defaultMode: 'fast',
      modes: ['fast'],
      topK: 10,
      scoreThreshold: 0,
      rerank: { enabled: true },
      reasoningModel,
    })
    spaces.push(id)
  }
  for (const query of [
    'From which quay does the ferry to Bergen leave?',
    'Whence might one sail northward by ferry?',
  ]) {
    const token = await appOf({ model: null, knowledgeSpaceIds: spaces })
    const count = server.requests.length
    await blocking(token, { query })
    expect(server.requests.length).toBe(count + 1)
    const asked = server.requests.at(-1)?.body.messages?.at(-1)?.content
    expect(asked).toContain('northern quay')
    expect(asked).toContain('sold on board')
  }
})

test('if no passage is found, the prompt states this, or without a model the answer does', async () => {
  const token = await appOf({ knowledgeSpaceIds: [chat.spaceId], instructions: 'Be brief.' })
  await blocking(token, { query: 'Zygomorphic ranunculus xylem?' })
  expect(server.requests.at(-1)?.body.messages?.[0]?.content).toMatch(/^No passage was found.*Be brief\.$/s)
  const alone = await appOf({
    knowledgeSpaceIds: [chat.spaceId],
    model: { pluginId: 'builtin', provider: 'extractive', model: 'extractive' },
  })
  const count = server.requests.length
  const refused = await blocking(alone, { query: 'Zygomorphic ranunculus xylem?' })
  expect(refused.answer).toMatch(/^Nothing was found for/)
  expect(refused.metadata.usage).toMatchObject({ total_tokens: 0 })
  expect(server.requests.length).toBe(count)
})
