import { afterAll, beforeAll, expect, test } from 'vitest'
import { estimateTokens } from '../../../src/engine/models/budget.js'
import { bodyOf, startKsd, temporaryDir } from '../../helpers/daemon.js'
import { startEngine, type TestEngine } from '../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../helpers/fake-openai.js'
import { createTestTokens } from '../../helpers/tokens.js'
import { until } from '../../helpers/until.js'
import { type ChatEdge, eventsOf, startChat } from './helpers.js'

const PROVIDER = { pluginId: 'openai-compatible', provider: 'fake' }
const MODEL = { ...PROVIDER, model: 'talker' }
const WORDS = 200

let server: FakeOpenAi
let running: TestEngine
let chat: ChatEdge
let directAppKey: string

beforeAll(async () => {
  server = await startFakeOpenAi({ deltaMs: 20, answer: (messages) => reply(messages) })
  running = await startEngine({ providers: [{ ...PROVIDER, baseUrl: `${server.url}/v1` }], defaultGenerator: MODEL })
  chat = await startChat({ suggestedQuestionsAfterAnswer: true }, { engine: running.engine })
  directAppKey = await appWithout(chat)
})
afterAll(async () => {
  await chat.end()
  await running.end()
  await server.close()
})

function reply(messages: { content: string }[]): string {
  const question = messages.at(-1)?.content ?? ''
  if (question === 'longer' && messages[0]?.content.startsWith('Write a title')) return 'A long story'
  if (question.startsWith('long')) return Array.from({ length: WORDS }, (_, n) => `word${n}`).join(' ')
  if (question.includes('in lines')) return 'Perhaps:\n1. When?\n2) Where?\n- Why?\n* Who?'
  if (question.includes('"user"')) return 'Sure: ["When?", "Where?", "Why?", "Who?"]'
  return `<think>hm</think>short ${question.slice(0, 20)}`
}

async function appWithout({ edge, token }: ChatEdge): Promise<string> {
  const app = await bodyOf<{ id: string }>(
    await edge.send('POST', '/chat-apps', { token, json: { name: 'Direct', suggestedQuestionsAfterAnswer: true } }),
  )
  return (await bodyOf<{ key: string }>(await edge.send('POST', `/chat-apps/${app.id}/keys`, { token }))).key
}

test('a stop ends a running answer, aborts the model request, and keeps the text up to there', async () => {
  const token = directAppKey
  const json = { query: 'long', user: 'u', auto_generate_name: false }
  const response = await chat.edge.send('POST', '/v1/chat-messages', { token, json })
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  const events: Record<string, unknown>[] = []
  const read = async () => {
    const chunk = await reader?.read()
    for (const line of decoder.decode(chunk?.value).split('\n\n'))
      if (line !== '') events.push(JSON.parse(line.slice(6)))
    return chunk?.done === true
  }
  while (events.filter(({ event }) => event === 'message').length < 5) await read()
  const { task_id, conversation_id } = events[0] ?? {}
  const other = await chat.edge.send('POST', `/v1/chat-messages/${task_id}/stop`, { token, json: { user: 'other' } })
  expect(await other.json()).toEqual({ result: 'success' })
  await read()
  expect(events.at(-1)?.event).toBe('message')
  await chat.edge.send('POST', `/v1/chat-messages/${task_id}/stop`, { token, json: { user: 'u' } })
  while (!(await read()));
  expect(events.at(-1)?.event).toBe('message_end')
  const said = events.flatMap(({ event, answer }) => (event === 'message' ? [answer] : [])).join('')
  expect(said.split(' ').length).toBeLessThan(WORDS)
  // The provider has not counted: tokens are estimated, perhaps with one more delta in transit.
  const { usage } = Object(events.at(-1)?.metadata)
  expect(usage).toMatchObject({ prompt_tokens: estimateTokens('long') })
  expect(usage.completion_tokens).toBeGreaterThanOrEqual(estimateTokens(said))
  expect(usage.completion_tokens).toBeLessThanOrEqual(estimateTokens(`${said} word0000`))
  const page = await bodyOf<{ data: { answer: string; status: string }[] }>(
    await chat.edge.send('GET', `/v1/messages?user=u&conversation_id=${conversation_id}`, { token }),
  )
  expect(page.data[0]).toMatchObject({ answer: said, status: 'normal' })
  await expect
    .poll(() => server.requests.find(({ body }) => body.messages?.at(-1)?.content === 'long')?.isAborted)
    .toBe(true)
})

test('an answer that is stopped before its first delta counts the tokens of its prompt', async () => {
  const token = directAppKey
  const stopped = async (query: string, isAsked: () => boolean) => {
    const json = { query, user: 'n', auto_generate_name: false }
    const response = await chat.edge.send('POST', '/v1/chat-messages', { token, json })
    const reader = response.body?.getReader()
    const first = new TextDecoder().decode((await reader?.read())?.value)
    const { task_id } = JSON.parse(first.split('\n\n')[0]?.slice(6) ?? '')
    await until(isAsked)
    await chat.edge.send('POST', `/v1/chat-messages/${task_id}/stop`, { token, json: { user: 'n' } })
    let text = ''
    for (let chunk = await reader?.read(); chunk?.done === false; chunk = await reader?.read())
      text += new TextDecoder().decode(chunk.value)
    const end = JSON.parse(text.trim().split('\n\n').at(-1)?.slice(6) ?? '')
    return end.metadata.usage
  }
  server.script({ kind: 'hang' })
  const asked = () => server.requests.some(({ body }) => body.messages?.at(-1)?.content === 'to nobody')
  expect(await stopped('to nobody', asked)).toMatchObject({
    prompt_tokens: estimateTokens('to nobody'),
    completion_tokens: 0,
  })
  server.clear()
})

test('a chat model gets the previous turns, names the conversation and suggests questions, and its tokens are counted', async () => {
  const token = directAppKey
  const ask = async (query: string, conversation_id = '') => {
    const json = { query, user: 'm', conversation_id, response_mode: 'blocking' }
    return bodyOf<{ conversation_id: string; message_id: string; answer: string; metadata: { usage: object } }>(
      await chat.edge.send('POST', '/v1/chat-messages', { token, json }),
    )
  }
  const first = await ask('who am I?')
  const second = await ask('and you?', first.conversation_id)
  const seen = server.requests.find(({ body }) => body.messages?.at(-1)?.content === 'and you?')
  expect(seen?.body.messages?.map(({ content }) => content)).toEqual([
    'who am I?',
    first.answer.replace('<think>hm</think>', ''),
    'and you?',
  ])
  expect(second.metadata.usage).toMatchObject({ prompt_tokens: expect.any(Number), currency: 'USD' })
  const named = async () => {
    const page = await chat.edge.send('GET', '/v1/conversations?user=m', { token })
    return (await bodyOf<{ data: { name: string }[] }>(page)).data[0]?.name
  }
  await expect.poll(named).toBe('short who am I?')
  const suggested = await chat.edge.send('GET', `/v1/messages/${second.message_id}/suggested?user=m`, { token })
  expect(await suggested.json()).toEqual({ result: 'success', data: ['When?', 'Where?', 'Why?'] })
})

test('suggested questions are accepted as lines of text if the model returns no JSON', async () => {
  const token = directAppKey
  const json = { query: 'in lines', user: 'l', response_mode: 'blocking', auto_generate_name: false }
  const sent = await chat.edge.send('POST', '/v1/chat-messages', { token, json })
  const { message_id } = await bodyOf<{ message_id: string }>(sent)
  const suggested = await chat.edge.send('GET', `/v1/messages/${message_id}/suggested?user=l`, { token })
  expect(await suggested.json()).toEqual({ result: 'success', data: ['When?', 'Where?', 'Why?'] })
})

test('a conversation gets its name before a long answer ends', async () => {
  const token = directAppKey
  const response = await chat.edge.send('POST', '/v1/chat-messages', { token, json: { query: 'longer', user: 'n' } })
  const reader = response.body?.getReader()
  const [first] = new TextDecoder().decode((await reader?.read())?.value).split('\n\n')
  const { task_id, conversation_id } = JSON.parse(first?.slice(6) ?? '')
  const named = async () => {
    const list = await chat.edge.send('GET', '/v1/conversations?user=n', { token })
    return (await bodyOf<{ data: { name: string }[] }>(list)).data[0]?.name
  }
  await expect.poll(named).toBe('A long story')
  const page = await chat.edge.send('GET', `/v1/messages?user=n&conversation_id=${conversation_id}`, { token })
  expect(await page.json()).toMatchObject({ data: [{ answer: '' }] })
  await chat.edge.send('POST', `/v1/chat-messages/${task_id}/stop`, { token, json: { user: 'n' } })
  await reader?.cancel()
})

test('a name that the user sets for a conversation is not replaced by a name that a model is generating', async () => {
  const token = directAppKey
  const json = { query: 'q', user: 'r', response_mode: 'blocking', auto_generate_name: false }
  const sent = await chat.edge.send('POST', '/v1/chat-messages', { token, json })
  const { conversation_id } = await bodyOf<{ conversation_id: string }>(sent)
  const rename = async (how: object) => {
    const path = `/v1/conversations/${conversation_id}/name`
    const renamed = await chat.edge.send('POST', path, { token, json: { user: 'r', ...how } })
    return (await bodyOf<{ name: string }>(renamed)).name
  }
  const before = server.requests.length
  server.script({ kind: 'slow', ms: 300 })
  const generated = rename({ auto_generate: true })
  await until(() => server.requests.length > before)
  expect(await rename({ name: 'By hand' })).toBe('By hand')
  expect(await generated).toBe('By hand')
  expect(await rename({ auto_generate: true })).toBe('short q')
})

test('a turn whose model fails ends with an error event, and stays in the history, but not in the next prompt', async () => {
  const token = directAppKey
  const before = server.requests.length
  server.script(...Array.from({ length: 8 }, () => ({ kind: 'status' as const, status: 400 })))
  const failed = await chat.edge.send('POST', '/v1/chat-messages', { token, json: { query: 'poison', user: 'e' } })
  const text = await failed.text()
  // Nor does the model get a request for a name of the conversation.
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(server.requests).toHaveLength(before + 1)
  server.clear()
  const last = JSON.parse(text.trim().split('\n\n').at(-1)?.slice(6) ?? '')
  expect(last).toMatchObject({ event: 'error', status: expect.any(Number), code: expect.any(String) })
  const { conversation_id } = last
  await chat.edge.send('POST', '/v1/chat-messages', {
    token,
    json: { query: 'healthy', user: 'e', conversation_id, response_mode: 'blocking' },
  })
  const page = await bodyOf<{ data: { query: string; status: string }[] }>(
    await chat.edge.send('GET', `/v1/messages?user=e&conversation_id=${conversation_id}`, { token }),
  )
  expect(page.data.map(({ query, status }) => [query, status])).toEqual([
    ['poison', 'error'],
    ['healthy', 'normal'],
  ])
  const seen = server.requests.find(({ body }) => body.messages?.at(-1)?.content === 'healthy')
  expect(seen?.body.messages).toHaveLength(1)
})

test.each([
  [401, '', { status: 400, code: 'provider_not_initialize' }],
  [403, '', { status: 400, code: 'provider_not_initialize' }],
  [402, '', { status: 400, code: 'provider_quota_exceeded' }],
  [
    429,
    '{"error":{"code":"insufficient_quota"}}',
    {
      status: 400,
      code: 'provider_quota_exceeded',
      message: 'provider "fake" has no quota left (429)',
    },
  ],
  [
    404,
    '',
    {
      status: 400,
      code: 'model_currently_not_support',
      message: 'provider "fake" has no model "talker", or not at this address (404)',
    },
  ],
  [400, '', { status: 400, code: 'completion_request_error' }],
  [429, '', { status: 429, code: 'rate_limit_error' }],
])(
  'a model that answers %s %s leads to the documented error code, streamed and blocking',
  async (status, body, said) => {
    const token = directAppKey
    const send = async (response_mode: string) => {
      server.script(...Array.from({ length: 40 }, () => ({ kind: 'status' as const, status, body })))
      return chat.edge.send('POST', '/v1/chat-messages', {
        token,
        json: { query: 'q', user: 'f', response_mode, auto_generate_name: false },
      })
    }
    const text = await (await send('streaming')).text()
    server.clear()
    expect(JSON.parse(text.trim().split('\n\n').at(-1)?.slice(6) ?? '')).toMatchObject({ event: 'error', ...said })
    const blocking = await send('blocking')
    server.clear()
    expect(blocking.status).toBe(said.status)
    expect(await blocking.json()).toMatchObject(said)
    expect(blocking.headers.has('retry-after')).toBe(said.status === 429)
  },
)

test('thoughts of a model are sent to clients, but not to the model in later turns', async () => {
  const token = directAppKey
  const json = { user: 'thinker', response_mode: 'blocking', auto_generate_name: false }
  const send = async (more: object) =>
    bodyOf<{ answer: string; conversation_id: string }>(
      await chat.edge.send('POST', '/v1/chat-messages', { token, json: { ...json, ...more } }),
    )
  const { answer, conversation_id } = await send({ query: 'first' })
  expect(answer).toBe('<think>hm</think>short first')
  await send({ query: 'second', conversation_id })
  const seen = server.requests.findLast(({ body }) => body.messages?.at(-1)?.content === 'second')
  expect(seen?.body.messages?.map(({ content }) => content)).toEqual(['first', 'short first', 'second'])
})

test('a failed model leaves a turn over a space to a quotation, which states this, streamed and blocking', async () => {
  const json = { query: 'When does the shop in Oslo open?', user: 'f', auto_generate_name: false }
  const fail = () => server.script(...Array.from({ length: 8 }, () => ({ kind: 'status' as const, status: 401 })))
  const reason = 'the answer is a quotation of the documents: provider "fake" refused the credentials (401)'
  const expected = { degraded: true, degraded_class: 'auth', degraded_reasons: expect.arrayContaining([reason]) }
  fail()
  const events = await eventsOf(await chat.chat('POST', '/chat-messages', { json }))
  server.clear()
  expect(events.at(-1)).toMatchObject({ event: 'message_end', metadata: expected })
  const streamed = events.flatMap(({ event, answer }) => (event === 'message' ? [String(answer)] : [])).join('')
  fail()
  const blocking = await chat.chat('POST', '/chat-messages', { json: { ...json, response_mode: 'blocking' } })
  server.clear()
  const { answer, metadata } = await bodyOf<{ answer: string; metadata: object }>(blocking)
  expect(metadata).toMatchObject(expected)
  for (const text of [streamed, answer]) {
    expect(text).toMatch(/^The model does not answer now; this comes from the documents alone\.\n\n/)
    expect(text).toContain('opens at nine')
  }
})

test('an application beyond maxConcurrentRequests answers 429 with Retry-After', async () => {
  const { edge, token } = chat
  const app = await bodyOf<{ id: string }>(
    await edge.send('POST', '/chat-apps', { token, json: { name: 'Small', maxConcurrentRequests: 1 } }),
  )
  const { key } = await bodyOf<{ key: string }>(await edge.send('POST', `/chat-apps/${app.id}/keys`, { token }))
  const send = () => edge.send('POST', '/v1/chat-messages', { token: key, json: { query: 'long', user: 'c' } })
  const first = await send()
  const second = await send()
  expect(second.status).toBe(429)
  expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await second.json()).toMatchObject({ code: 'too_many_requests', status: 429 })
  const chunk = await first.body?.getReader().read()
  const { task_id } = JSON.parse(new TextDecoder().decode(chunk?.value).split('\n\n')[0]?.slice(6) ?? '')
  await edge.send('POST', `/v1/chat-messages/${task_id}/stop`, { token: key, json: { user: 'c' } })
  const third = async () => {
    const response = await send()
    await response.body?.cancel()
    return response.status
  }
  await expect.poll(third).toBe(200)
})

test('applications belong to a tenant; their keys are shown once, and stop working when revoked, disabled or deleted', async () => {
  const { edge, token } = chat
  const app = await bodyOf<{ id: string }>(await edge.send('POST', '/chat-apps', { token, json: { name: 'Mine' } }))
  const path = `/chat-apps/${app.id}`
  for (const [method, target] of [
    ['GET', path],
    ['PATCH', path],
    ['DELETE', path],
    ['POST', `${path}/keys`],
    ['GET', `${path}/keys`],
  ] as const) {
    const sent = { token: edge.tokens.bob, ...(method === 'PATCH' ? { json: {} } : {}) }
    expect((await edge.send(method, target, sent)).status).toBe(404)
  }
  expect((await edge.send('POST', '/chat-apps', { token: edge.tokens.readOnly, json: { name: 'x' } })).status).toBe(403)
  expect((await edge.send('GET', '/chat-apps/x/y/z')).status).toBe(401)
  const foreign = { name: 'x', knowledgeSpaceIds: [chat.spaceId] }
  expect((await edge.send('POST', '/chat-apps', { token: edge.tokens.bob, json: foreign })).status).toBe(404)
  const made = await bodyOf<{ id: string; key: string }>(await edge.send('POST', `${path}/keys`, { token }))
  const list = await (await edge.send('GET', `${path}/keys`, { token })).text()
  expect(list).toContain(made.id)
  expect(list).not.toContain(made.key)
  const status = async () => (await edge.send('GET', '/v1/info', { token: made.key })).status
  expect(await status()).toBe(200)
  await edge.send('PATCH', path, { token, json: { enabled: false } })
  expect(await status()).toBe(403)
  await edge.send('PATCH', path, { token, json: { enabled: true } })
  expect((await edge.send('DELETE', `${path}/keys/${made.id}`, { token })).status).toBe(204)
  expect(await status()).toBe(401)
  expect((await edge.send('DELETE', path, { token })).status).toBe(204)
  expect((await edge.send('GET', path, { token })).status).toBe(404)
})

test('a daemon that is killed during an answer leaves a complete message with status error', async () => {
  const dir = temporaryDir()
  const provider = [{ ...PROVIDER, baseUrl: `${server.url}/v1` }]
  const env = { KS_DAEMON_PROVIDERS: JSON.stringify(provider) }
  const first = await startKsd(dir.path, [], env)
  const { ada } = await createTestTokens(dir.path)
  const send = (url: string, method: string, path: string, key: string, json?: object) =>
    fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    })
  const app = await bodyOf<{ id: string }>(
    await send(first.ready.url, 'POST', '/chat-apps', ada, { name: 'A', model: MODEL }),
  )
  const made = await send(first.ready.url, 'POST', `/chat-apps/${app.id}/keys`, ada)
  const { key } = await bodyOf<{ key: string }>(made)
  const stream = await send(first.ready.url, 'POST', '/v1/chat-messages', key, { query: 'long', user: 'k' })
  const chunk = await stream.body?.getReader().read()
  const { conversation_id } = JSON.parse(new TextDecoder().decode(chunk?.value).split('\n\n')[0]?.slice(6) ?? '')
  await first.end('SIGKILL')
  const second = await startKsd(dir.path, [], env)
  const page = await bodyOf<{ data: object[] }>(
    await send(second.ready.url, 'GET', `/v1/messages?user=k&conversation_id=${conversation_id}`, key),
  )
  expect(page.data).toHaveLength(1)
  expect(page.data[0]).toMatchObject({
    query: 'long',
    answer: '',
    status: 'error',
    error: expect.stringContaining('stopped'),
  })
  await second.end('SIGTERM')
  dir.remove()
})
