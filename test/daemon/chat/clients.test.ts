import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeChatFrame } from '../../../src/daemon/chat/reply.js'
import { bodyOf } from '../../helpers/daemon.js'
import { startEngine, type TestEngine } from '../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../helpers/fake-openai.js'
import { type ChatEdge, eventsOf, startChat } from './helpers.js'

/** Habits of public clients that the service tolerates, and what their stream readers trip over. */

const PROVIDER = { pluginId: 'openai-compatible', provider: 'fake' }
const MODEL = { ...PROVIDER, model: 'talker' }
/** Python's `splitlines`, which some clients read streams with, ends a line at U+2028 and U+0085 */
const ODD = 'Grüße 你好 👩‍👩‍👧 one\u2028two\u0085three "quoted" \\ data: {"event":"fake"}\n\ndata:done'
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const UNBROKEN = '👍'.repeat(40_000)
const ANSWERS: Record<string, string> = { odd: ODD, unbroken: UNBROKEN }

let server: FakeOpenAi
let running: TestEngine
let chat: ChatEdge
let talk: string

beforeAll(async () => {
  server = await startFakeOpenAi({
    models: ['talker'],
    answer: (messages) => {
      const content = messages.at(-1)?.content ?? ''
      if (content.startsWith('<source ')) return 'It opens at nine [1].'
      return ANSWERS[content] ?? `You wrote ${content.length}`
    },
  })
  running = await startEngine({
    providers: [{ ...PROVIDER, baseUrl: `${server.url}/v1`, contextTokens: { '*': 131_072 } }],
    defaultGenerator: MODEL,
  })
  chat = await startChat({}, { engine: running.engine })
  talk = await keyOf({})
})
afterAll(async () => {
  await chat.end()
  await running.end()
  await server.close()
})

async function keyOf(fields: object): Promise<string> {
  const { edge, token } = chat
  const app = await bodyOf<{ id: string }>(
    await edge.send('POST', '/chat-apps', { token, json: { name: 'A', ...fields } }),
  )
  return (await bodyOf<{ key: string }>(await edge.send('POST', `/chat-apps/${app.id}/keys`, { token }))).key
}

const send = (query: string, more: object = {}, token = talk) =>
  chat.edge.send('POST', '/v1/chat-messages', { token, json: { query, user: 'u', auto_generate_name: false, ...more } })

interface Message {
  task_id: string
  message_id: string
  conversation_id: string
  answer: string
  metadata: { retriever_resources: { document_name: string }[] }
}

async function answered(response: Response): Promise<Message> {
  expect(response.status).toBe(200)
  return bodyOf<Message>(response)
}

describe('a chat stream', () => {
  test('can be split at `data:`, whatever the answer contains', async () => {
    const text = await (await send('odd')).text()
    const events = text
      .split('data:')
      .slice(1)
      .map((part) => JSON.parse(part))
    const said = events.flatMap(({ event, answer }) => (event === 'message' ? [answer] : [])).join('')
    expect(said).toBe(ODD)
  })

  test('contains only ASCII if its events are short, so that clients can cut and decode it anywhere', async () => {
    const text = await (await send('odd')).clone().text()
    expect(text).toMatch(/^[\n -~]*$/)
    const events = await eventsOf(new Response(text))
    const said = events.flatMap(({ event, answer }) => (event === 'message' ? [answer] : [])).join('')
    expect(said).toBe(ODD)
  })

  test('keeps an event with many passages below the maximal line length of clients', () => {
    const passages = Array.from({ length: 15 }, () => `${'早上九点开门。'.repeat(170)}\u2028\u2029\u0085`)
    const bytes = encodeChatFrame({ event: 'message_end', passages })
    expect(bytes.length).toBeLessThan(65_536)
    const text = Buffer.from(bytes).toString('utf8')
    expect(text).toMatch(/^data: [^\n\u0085\u2028\u2029]+\n\n$/)
    expect(JSON.parse(text.slice(6))).toEqual({ event: 'message_end', passages })
  })

  test('splits a long delta of a model into short events without breaking a character', async () => {
    const response = await send('unbroken')
    const text = await response.text()
    for (const line of text.split('\n')) expect(line.length).toBeLessThan(16_384)
    const events = await eventsOf(new Response(text))
    const pieces = events.flatMap(({ event, answer }) => (event === 'message' ? [String(answer)] : []))
    expect(pieces.join('')).toBe(UNBROKEN)
    for (const piece of pieces) expect(piece.isWellFormed()).toBe(true)
    const path = `/v1/messages?user=u&conversation_id=${events[0]?.conversation_id}`
    const page = await bodyOf<{ data: Message[] }>(await chat.edge.send('GET', path, { token: talk }))
    expect(page.data[0]?.answer).toBe(UNBROKEN)
  })
})

describe('a model that cannot answer', () => {
  const limited = { kind: 'status', status: 429, retryAfter: '0' } as const

  test.each([
    ['limits the rate', 429, 'rate_limit_error', {}],
    ['refuses the credentials', 400, 'provider_not_initialize', {}],
    ['does not know the name', 400, 'model_currently_not_support', { model: { ...PROVIDER, model: 'unknown' } }],
  ])('because its provider %s is reported with %d %s, blocking and streamed', async (why, status, code, fields) => {
    const token = await keyOf(fields)
    const fault = why.startsWith('limits') ? limited : { kind: 'echo-key' as const }
    for (const response_mode of ['blocking', 'streaming']) {
      // more than there are attempts
      if (status === 429 || why.startsWith('refuses')) server.script(...Array.from({ length: 10 }, () => fault))
      const response = await send('q', { response_mode }, token)
      if (response_mode === 'streaming') {
        const events = await eventsOf(response)
        expect(events.at(-1)).toMatchObject({ event: 'error', status, code })
      } else {
        expect(response.status).toBe(status)
        expect(response.headers.has('retry-after')).toBe(status === 429)
        expect(await response.json()).toMatchObject({ status, code })
      }
      server.clear()
    }
  })
})

describe('a request of a chat client', () => {
  test.each([
    'application/json; charset=utf8',
    'application/json; charset=ISO-8859-1',
    'application/json;odata=verbose',
    'application/vnd.api+json',
    'text/json',
  ])('can declare its JSON as %s', async (type) => {
    const body = JSON.stringify({ query: 'é', user: 'u', response_mode: 'blocking' })
    const headers = { 'content-type': type }
    const response = await chat.edge.send('POST', '/v1/chat-messages', { token: talk, body, headers })
    expect((await answered(response)).answer).toBe('You wrote 1')
  })

  test('can contain a complete conversation as its question: only the last line is searched', async () => {
    const before = 'USER: tell me about the weather\nASSISTANT: it rains\n'.repeat(1900)
    const query = `${before}USER: When does the shop in Oslo open?`
    expect((await answered(await send(query, { response_mode: 'blocking' }))).answer).toBe(`You wrote ${query.length}`)
    const { metadata } = await answered(await send(query, { response_mode: 'blocking' }, chat.key))
    expect(metadata.retriever_resources[0]?.document_name).toBe('hours.md')
    // A question that no passage answers goes to the model with the complete text.
    const own = `${before}USER: Is it wet outside?`
    expect((await answered(await send(own, { response_mode: 'blocking' }, chat.key))).answer).toBe(
      `You wrote ${own.length}`,
    )
    const longer = await send('x'.repeat(100_001), { response_mode: 'blocking' })
    expect(await longer.json()).toMatchObject({ status: 400, code: 'invalid_param', params: 'query' })
  })

  test('can use a base URL that ends in a slash', async () => {
    for (const path of ['/v1//info', '//v1/info', '/v1//messages//x/feedbacks'])
      expect([path, (await chat.edge.send('GET', path, { token: talk })).status]).toEqual([
        path,
        path.endsWith('feedbacks') ? 405 : 200,
      ])
    // Below other paths every slash counts.
    expect((await chat.edge.send('GET', '//knowledge-spaces', { token: chat.token })).status).toBe(404)
  })

  test('can delete with `null` as its body', async () => {
    const { conversation_id } = await answered(await send('x', { response_mode: 'blocking' }))
    const headers = { 'content-type': 'application/json' }
    const path = `/v1/conversations/${conversation_id}`
    const bare = await chat.edge.send('DELETE', path, { token: talk, body: 'null', headers })
    expect(await bare.json()).toMatchObject({ status: 400, params: 'user' })
    const named = await chat.edge.send('DELETE', `${path}?user=u`, { token: talk, body: 'null', headers })
    expect(named.status).toBe(204)
  })

  test('can write ids in upper case', async () => {
    const { conversation_id, message_id } = await answered(await send('x', { response_mode: 'blocking' }))
    const more = { response_mode: 'blocking', conversation_id: conversation_id.toUpperCase() }
    expect((await answered(await send('y', more))).conversation_id).toBe(conversation_id)
    const path = `/v1/messages/${message_id.toUpperCase()}/feedbacks`
    const rated = await chat.edge.send('POST', path, { token: talk, json: { user: 'u', rating: 'like' } })
    expect(rated.status).toBe(200)
    server.script({ kind: 'stall-after', deltas: 1 })
    const reader = (await send('z')).body?.getReader()
    const { value } = (await reader?.read()) ?? {}
    const { task_id } = JSON.parse(new TextDecoder().decode(value).split('\n')[0]?.slice(6) ?? '') as Message
    await chat.edge.send('POST', `/v1/chat-messages/${task_id.toUpperCase()}/stop`, {
      token: talk,
      json: { user: 'u' },
    })
    // The stop ends the stream although the model sends nothing more.
    while (!(await reader?.read())?.done);
    server.clear()
  })

  test('can name its user by an integer', async () => {
    const { conversation_id } = await answered(await send('x', { response_mode: 'blocking', user: 4711 }))
    const path = `/v1/messages?user=4711&conversation_id=${conversation_id}`
    expect((await chat.edge.send('GET', path, { token: talk })).status).toBe(200)
    for (const user of [1.5, true, ['u'], {}])
      expect(await (await send('x', { user })).json()).toMatchObject({ status: 400, params: 'user' })
  })

  test('can send additional headers from a web page: the preflight allows them', async () => {
    const headers = {
      origin: 'http://page.test',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,cache-control,x-requested-with',
    }
    const preflight = await chat.edge.send('OPTIONS', '/v1/chat-messages', { headers })
    const allowed = preflight.headers.get('access-control-allow-headers')?.split(', ')
    expect(allowed).toEqual(expect.arrayContaining(['Authorization', 'Content-Type', '*']))
  })

  test('with a malformed id gets the phrase "is not a valid uuid" that clients look for', async () => {
    const response = await send('x', { conversation_id: 'session-1' })
    const body = await bodyOf<{ message: string }>(response)
    expect(body).toMatchObject({ status: 400, code: 'invalid_param', params: 'conversation_id' })
    expect(body.message).toContain('is not a valid uuid')
  })

  test('can send empty inputs as an empty list, as PHP does, but no other list', async () => {
    expect((await answered(await send('x', { response_mode: 'blocking', inputs: [] }))).answer).toBe('You wrote 1')
    const refused = await bodyOf<object>(await send('x', { inputs: ['city'] }))
    expect(refused).toMatchObject({ status: 400, code: 'invalid_param', params: 'inputs' })
  })

  test('can spell the mode as responseMode; response_mode takes precedence', async () => {
    expect((await answered(await send('x', { responseMode: 'blocking' }))).answer).toBe('You wrote 1')
    const streamed = await send('x', { responseMode: 'blocking', response_mode: 'streaming' })
    expect(streamed.headers.get('content-type')).toContain('text/event-stream')
    await streamed.text()
    expect(await bodyOf<object>(await send('x', { responseMode: 'loud' }))).toMatchObject({ params: 'response_mode' })
  })

  test('can rename a conversation of the same user with PATCH', async () => {
    const { conversation_id } = await answered(await send('x', { response_mode: 'blocking' }))
    const path = `/v1/conversations/${conversation_id}`
    const rename = (user: string) =>
      chat.edge.send('PATCH', path, { token: talk, json: { name: 'By an old client', user } })
    expect((await rename('somebody else')).status).toBe(404)
    const renamed = await rename('u')
    expect(renamed.status).toBe(200)
    expect(await renamed.json()).toMatchObject({ id: conversation_id, name: 'By an old client' })
    const { data } = await bodyOf<{ data: { id: string; name: string }[] }>(
      await chat.edge.send('GET', '/v1/conversations?user=u', { token: talk }),
    )
    expect(data.find(({ id }) => id === conversation_id)?.name).toBe('By an old client')
  })

  test('that uploads a file gets 200, or 201 if the application says so', async () => {
    for (const [fields, status] of [
      [{}, 200],
      [{ uploadStatus: 201 }, 201],
    ] as const) {
      const token = await keyOf({ vision: { enabled: true }, ...fields })
      const form = new FormData()
      form.append('file', new Blob([PIXEL], { type: 'image/png' }), 'dot.png')
      form.append('user', 'u')
      const uploaded = await chat.edge.send('POST', '/v1/files/upload', { token, body: form })
      expect([uploaded.status, (await bodyOf<{ name: string }>(uploaded)).name]).toEqual([status, 'dot.png'])
    }
    const json = { name: 'A', uploadStatus: 204 }
    expect((await chat.edge.send('POST', '/chat-apps', { token: chat.token, json })).status).toBe(400)
  })

  test('with an overlong input learns the maximal length', async () => {
    const userInputForm = [{ 'text-input': { label: 'City', variable: 'city', required: true, max_length: 5 } }]
    const token = await keyOf({ userInputForm })
    const send = (city: string) =>
      chat.edge.send('POST', '/v1/chat-messages', {
        token,
        json: { query: 'x', user: 'u', response_mode: 'blocking', inputs: { city } },
      })
    expect((await send('Paris')).status).toBe(200)
    expect(await bodyOf<object>(await send('London'))).toMatchObject({
      status: 400,
      message: 'city in input form must be at most 5 characters long',
    })
  })

  test('can use HEAD wherever GET is served', async () => {
    for (const path of ['/v1/', '/v1/info', '/v1/parameters']) {
      const [head, get] = await Promise.all(
        ['HEAD', 'GET'].map((method) => chat.edge.send(method, path, { token: talk })),
      )
      expect([path, head?.status, await head?.text()]).toEqual([path, 200, ''])
      expect(head?.headers.get('content-type')).toBe(get?.headers.get('content-type'))
    }
    const { task_id } = await answered(await send('x', { response_mode: 'blocking' }))
    const replay = await chat.edge.send('HEAD', `/v1/chat-messages/${task_id}/events?user=u`, { token: talk })
    expect(replay.status).toBe(200)
    expect(replay.headers.get('content-type')).toContain('text/event-stream')
    expect((await chat.edge.send('HEAD', '/v1/nothing', { token: talk })).status).toBe(404)
    expect((await chat.edge.send('HEAD', '/v1/chat-messages', { token: talk })).status).toBe(405)
    await expect.poll(() => chat.edge.work.count()).toBe(0)
  })
})
