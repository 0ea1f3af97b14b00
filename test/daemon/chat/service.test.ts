import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bodyOf } from '../../helpers/daemon.js'
import { type ChatEdge, type Event, eventsOf, startChat } from './helpers.js'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const UNKNOWN = '01890000-0000-7000-8000-000000000000'

interface Completion {
  event: string
  task_id: string
  id: string
  message_id: string
  conversation_id: string
  answer: string
  metadata: { usage: Record<string, unknown>; retriever_resources: Record<string, unknown>[] }
}

interface Page<T> {
  limit: number
  has_more: boolean
  data: T[]
}

let chat: ChatEdge

beforeAll(async () => {
  chat = await startChat({
    openingStatement: 'Hello {{city}}',
    userInputForm: [
      { 'text-input': { label: 'City', variable: 'city', required: true, max_length: 10 } },
      { select: { label: 'Tone', variable: 'tone', required: false, default: 'plain', options: ['plain', 'warm'] } },
    ],
  })
})
afterAll(() => chat.end())

const inputs = { city: 'Oslo' }

async function say(query: string, more: Record<string, unknown> = {}): Promise<Completion> {
  const json = { query, user: 'u1', inputs, response_mode: 'blocking', ...more }
  const response = await chat.chat('POST', '/chat-messages', { json })
  expect(response.status).toBe(200)
  return bodyOf<Completion>(response)
}

async function refused(method: string, path: string, json?: unknown): Promise<Record<string, unknown>> {
  const response = await chat.chat(method, path, json === undefined ? {} : { json })
  const body = await bodyOf<Record<string, unknown>>(response)
  expect(body.status).toBe(response.status)
  return body
}

describe('sending a message', () => {
  test('returns a blocking answer from the bound space, with its passages', async () => {
    const done = await say('When does the shop in Oslo open?')
    expect(done).toMatchObject({ event: 'message', mode: 'chat', id: done.message_id })
    for (const id of [done.task_id, done.message_id, done.conversation_id]) expect(id).toMatch(UUID)
    expect(done.answer).toContain('nine')
    expect(done.metadata.retriever_resources[0]).toMatchObject({
      position: 1,
      dataset_id: chat.spaceId,
      dataset_name: 'Shop',
      document_name: 'hours.md',
    })
    expect(done.metadata.usage).toMatchObject({ prompt_tokens: 0, total_price: '0', currency: 'USD' })
  })

  test('streams only data lines: first a ping, then messages and one message_end, all with the same ids', async () => {
    const json = { query: 'When does the shop in Oslo open?', user: 'u1', inputs }
    const response = await chat.chat('POST', '/chat-messages', { json })
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    expect(response.headers.get('x-accel-buffering')).toBe('no')
    expect(response.headers.get('cache-control')).toBe('no-cache')
    expect(response.headers.get('connection')).toBe('close')
    const events = await eventsOf(response)
    const kinds = events.map(({ event }) => event)
    expect([...new Set(kinds)]).toEqual(['ping', 'message', 'message_end'])
    expect(kinds.at(-1)).toBe('message_end')
    for (const key of ['task_id', 'message_id', 'conversation_id', 'created_at'])
      expect(new Set(events.map((event) => event[key])).size).toBe(1)
    for (const event of events) if (event.event !== 'ping') expect(event.id).toBe(event.message_id)
    expect(answerOf(events)).toContain('nine')
  })

  test('stores the answer of a stream that the client leaves, and replays it', async () => {
    const json = { query: 'How much is a red kettle?', user: 'away', inputs }
    const response = await chat.chat('POST', '/chat-messages', { json })
    const reader = response.body?.getReader()
    const first = new TextDecoder().decode((await reader?.read())?.value)
    await reader?.cancel()
    const { task_id, conversation_id } = JSON.parse(first.slice(6)) as Record<string, string>
    const replay = await eventsOf(await chat.chat('GET', `/chat-messages/${task_id}/events?user=away`))
    expect(answerOf(replay)).toContain('fifty')
    const page = await messages(String(conversation_id), 'away')
    expect(page.data[0]).toMatchObject({ status: 'normal', answer: answerOf(replay) })
    expect(await refused('GET', `/chat-messages/${task_id}/events?user=u1`)).toMatchObject({ code: 'not_found' })
  })

  test('completes a follow-up question by the question before it', async () => {
    const first = await say('How much is a blue kettle?')
    expect(first.answer).toContain('forty')
    const second = await say('And the red one?', { conversation_id: first.conversation_id })
    expect(second.conversation_id).toBe(first.conversation_id)
    expect(second.answer).toContain('fifty')
  })

  test('keeps concurrent turns of one conversation in order', async () => {
    const { conversation_id } = await say('When does the shop in Oslo open?')
    const queries = ['one kettle?', 'two kettles?', 'three kettles?', 'four kettles?']
    await Promise.all(queries.map((query) => say(query, { conversation_id })))
    const page = await messages(conversation_id)
    expect(page.data.map(({ query }) => query).slice(1)).toEqual(queries)
    expect(page.data.every(({ status, answer }) => status === 'normal' && answer !== '')).toBe(true)
  })

  test.each([
    [{ user: 'u1', inputs }, 'invalid_param', 'query is required'],
    [{ query: '  ', user: 'u1', inputs }, 'invalid_param', 'query is required'],
    [{ query: 'q', inputs }, 'invalid_param', 'Arg user must be provided.'],
    [{ query: 'q', user: 'u1' }, 'invalid_param', 'city is required in input form'],
    [{ query: 'q', user: 'u1', inputs: { city: 'x'.repeat(11) } }, 'invalid_param', '10 characters'],
    [{ query: 'q', user: 'u1', inputs: { city: 'Oslo', tone: 'rude' } }, 'invalid_param', 'one of the following'],
    [{ query: 'q', user: 'u1', inputs: { city: 42 } }, 'invalid_param', 'city in input form must be a string'],
    [{ query: 'q', user: 'u1', inputs: { city: ['Oslo'] } }, 'invalid_param', 'city in input form must be a string'],
    [{ query: 'q', user: 'u1', inputs, conversation_id: 'nonsense' }, 'invalid_param', 'conversation_id'],
    [{ query: 'q', user: 'u1', inputs, conversation_id: UNKNOWN }, 'not_found', 'Conversation Not Exists.'],
    [{ query: 'q', user: 'u1', inputs, response_mode: 'loud' }, 'invalid_param', 'response_mode'],
    [
      { query: 'q', user: 'u1', inputs, files: [{ type: 'image', transfer_method: 'remote_url', url: 'http://a/b' }] },
      'invalid_param',
      'vision is disabled',
    ],
  ])('refuses %j before the stream starts', async (json, code, message) => {
    const body = await refused('POST', '/chat-messages', json)
    expect(body.code).toBe(code)
    expect(body.message).toContain(message)
  })

  test('accepts blank ids, nulls and unknown keys', async () => {
    const done = await say('When does the shop in Oslo open?', { conversation_id: '', files: null, trace_id: 'x' })
    expect(done.conversation_id).toMatch(UUID)
  })

  test('demands a required input although it has a default, even if it is named "constructor"', async () => {
    const { edge, token } = chat
    const control = { label: 'Name', variable: 'constructor', required: true, default: 'Bob' }
    const json = { name: 'Strict', userInputForm: [{ 'text-input': control }], knowledgeSpaceIds: [chat.spaceId] }
    const { id } = await bodyOf<{ id: string }>(await edge.send('POST', '/chat-apps', { token, json }))
    const { key } = await bodyOf<{ key: string }>(await edge.send('POST', `/chat-apps/${id}/keys`, { token }))
    const send = async (inputs: object) => {
      const body = { query: 'q', user: 'u', response_mode: 'blocking', inputs }
      return bodyOf<Record<string, unknown>>(await edge.send('POST', '/v1/chat-messages', { token: key, json: body }))
    }
    expect(await send({})).toMatchObject({ message: 'constructor is required in input form' })
    expect(await send({ constructor: 'Ada' })).toMatchObject({ event: 'message' })
  })

  test('measures the length of an input in characters, not in UTF-16 code units', async () => {
    await say('When?', { inputs: { city: '😀'.repeat(10) } })
    const json = { query: 'When?', user: 'u1', inputs: { city: '😀'.repeat(11) } }
    expect(await refused('POST', '/chat-messages', json)).toMatchObject({ code: 'invalid_param', params: 'inputs' })
  })

  test('stores a question with an unpaired surrogate with U+FFFD in its place', async () => {
    const { conversation_id } = await say('Is half \ud83d of it 😀?', { user: 'half' })
    const page = await messages(conversation_id, 'half')
    expect(page.data.map(({ query }) => query)).toEqual(['Is half \ufffd of it 😀?'])
  })

  test.each([
    ['nothing at all', {}],
    ['nothing as JSON', { headers: { 'content-type': 'application/json' } }],
    ['JSON that is cut off', { body: '{"query":', headers: { 'content-type': 'application/json' } }],
    ['a list', { json: [] }],
    ['plain text', { body: '{"query":"q","user":"u1"}', headers: { 'content-type': 'text/plain' } }],
    ['a form', { body: 'query=q', headers: { 'content-type': 'application/x-www-form-urlencoded' } }],
  ])('refuses a body that is no JSON object with the same sentence for each: %s', async (_what, sent) => {
    const response = await chat.chat('POST', '/chat-messages', sent)
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { code: 'bad_request', message: 'Invalid JSON payload received or JSON payload is empty.' },
    ])
  })
})

describe('the stop route', () => {
  test('answers success for any task, and requires a user', async () => {
    const stopped = await chat.chat('POST', `/chat-messages/${UNKNOWN}/stop`, { json: { user: 'u1' } })
    expect(await stopped.json()).toEqual({ result: 'success' })
    expect(await refused('POST', `/chat-messages/${UNKNOWN}/stop`, {})).toMatchObject({ code: 'invalid_param' })
  })
})

describe('conversations', () => {
  test('list the newest first, with name, inputs and introduction, and each exactly once when paged by last_id', async () => {
    const user = 'pager'
    const ids: string[] = []
    for (const query of ['first kettle?', 'second kettle?', 'third kettle?'])
      ids.push((await say(query, { user })).conversation_id)
    const first = await conversations(`user=${user}&limit=2&pinned=&last_id=`)
    expect(first).toMatchObject({ limit: 2, has_more: true })
    expect(first.data[0]).toMatchObject({
      name: 'third kettle?',
      inputs: { city: 'Oslo', tone: 'plain' },
      introduction: 'Hello Oslo',
      status: 'normal',
    })
    const rest = await conversations(`user=${user}&limit=2&last_id=${first.data.at(-1)?.id}`)
    expect([...first.data, ...rest.data].map(({ id }) => id)).toEqual([...ids].reverse())
    expect(rest.has_more).toBe(false)
    const oldest = await conversations(`user=${user}&sort_by=created_at`)
    expect(oldest.data.map(({ id }) => id)).toEqual(ids)
    expect(await refused('GET', `/conversations?user=${user}&last_id=${UNKNOWN}`)).toMatchObject({
      message: 'Last Conversation Not Exists.',
    })
    for (const bad of ['limit=0', 'limit=101', 'sort_by=name'])
      expect(await refused('GET', `/conversations?user=${user}&${bad}`)).toMatchObject({ code: 'invalid_param' })
  })

  test('can be renamed by hand and after their first question', async () => {
    const { conversation_id } = await say('first kettle?', { user: 'namer', auto_generate_name: false })
    expect((await conversations('user=namer')).data[0]?.name).toBe('New conversation')
    const path = `/conversations/${conversation_id}/name`
    const named = await chat.chat('POST', path, { json: { user: 'namer', name: 'Kettles' } })
    expect(await named.json()).toMatchObject({ id: conversation_id, name: 'Kettles' })
    const made = await chat.chat('POST', path, { json: { user: 'namer', name: '', auto_generate: true } })
    expect(await made.json()).toMatchObject({ name: 'first kettle?' })
    expect(await refused('POST', path, { user: 'namer', name: '' })).toMatchObject({ code: 'invalid_param' })
  })

  test('disappear from every route when deleted, with the user in the body or in the query', async () => {
    for (const inQuery of [true, false]) {
      const { conversation_id, message_id, task_id } = await say('first kettle?', { user: 'leaver' })
      const gone = inQuery
        ? await chat.chat('DELETE', `/conversations/${conversation_id}?user=leaver`, {
            headers: { 'content-type': 'application/json' },
          })
        : await chat.chat('DELETE', `/conversations/${conversation_id}`, { json: { user: 'leaver' } })
      expect([gone.status, await gone.text()]).toEqual([204, ''])
      const missing = { status: 404, message: 'Conversation Not Exists.' }
      expect(await refused('GET', `/messages?user=leaver&conversation_id=${conversation_id}`)).toMatchObject(missing)
      expect(await refused('DELETE', `/conversations/${conversation_id}`, { user: 'leaver' })).toMatchObject(missing)
      const again = { query: 'q', user: 'leaver', inputs, conversation_id }
      expect(await refused('POST', '/chat-messages', again)).toMatchObject(missing)
      expect(
        await refused('POST', `/messages/${message_id}/feedbacks`, { user: 'leaver', rating: 'like' }),
      ).toMatchObject({ message: 'Message Not Exists.' })
      expect(await refused('GET', `/chat-messages/${task_id}/events?user=leaver`)).toMatchObject({ status: 404 })
    }
  })

  test('cannot be deleted without a user', async () => {
    const { conversation_id } = await say('first kettle?', { user: 'stayer' })
    const path = `/conversations/${conversation_id}`
    const missing = { status: 400, code: 'invalid_param', message: 'Arg user must be provided.', params: 'user' }
    for (const query of ['', '?user=']) expect(await refused('DELETE', path + query)).toMatchObject(missing)
    expect(await refused('DELETE', path, { user: '' })).toMatchObject(missing)
  })

  test('list no variables if the application has none; an unknown conversation gets conversation_not_exists', async () => {
    const { conversation_id } = await say('first kettle?')
    const page = await chat.chat('GET', `/conversations/${conversation_id}/variables?user=u1`)
    expect(await page.json()).toEqual({ limit: 20, has_more: false, data: [] })
    expect(await refused('GET', `/conversations/${UNKNOWN}/variables?user=u1`)).toMatchObject({
      code: 'conversation_not_exists',
      message: 'Conversation Not Exists.',
    })
  })
})

describe('the routes of history and ratings', () => {
  test('return earlier messages by first_id, the oldest first within a list page', async () => {
    const user = 'historian'
    const { conversation_id } = await say('kettle 1?', { user })
    for (const n of [2, 3, 4, 5]) await say(`kettle ${n}?`, { user, conversation_id })
    const newest = await messages(conversation_id, user, '&limit=2')
    expect(newest.data.map(({ query }) => query)).toEqual(['kettle 4?', 'kettle 5?'])
    expect(newest.has_more).toBe(true)
    const older = await messages(conversation_id, user, `&limit=3&first_id=${newest.data[0]?.id}`)
    expect(older.data.map(({ query }) => query)).toEqual(['kettle 1?', 'kettle 2?', 'kettle 3?'])
    expect(older.has_more).toBe(false)
    const down = await messages(conversation_id, user, '&limit=2&order=desc')
    expect(down.data.map(({ query }) => query)).toEqual(['kettle 5?', 'kettle 4?'])
    const unknown = await refused(
      'GET',
      `/messages?user=${user}&conversation_id=${conversation_id}&first_id=${UNKNOWN}`,
    )
    expect(unknown).toMatchObject({ status: 404, message: 'First Message Not Exists.' })
  })

  test('replace, list and withdraw a rating any number of times', async () => {
    const { message_id, conversation_id } = await say('kettle?', { user: 'rater' })
    const rate = async (body: object) => {
      const response = await chat.chat('POST', `/messages/${message_id}/feedbacks`, {
        json: { user: 'rater', ...body },
      })
      expect(await response.json()).toEqual({ result: 'success' })
    }
    await rate({ rating: 'like', content: 'good' })
    await rate({ rating: 'dislike' })
    expect((await messages(conversation_id, 'rater')).data[0]?.feedback).toEqual({ rating: 'dislike' })
    const list = await bodyOf<{ data: object[] }>(await chat.chat('GET', '/app/feedbacks?page=1&limit=101'))
    expect(list.data[0]).toMatchObject({ app_id: chat.app.id, message_id, rating: 'dislike', content: '' })
    await rate({ rating: null })
    await rate({})
    expect((await messages(conversation_id, 'rater')).data[0]?.feedback).toBeNull()
    expect(await refused('POST', `/messages/${message_id}/feedbacks`, { user: 'rater', rating: 'meh' })).toMatchObject({
      code: 'invalid_param',
      params: 'rating',
    })
    expect(await refused('GET', '/app/feedbacks?limit=102')).toMatchObject({ code: 'invalid_param' })
  })

  test('offer no suggested questions unless the application enables them', async () => {
    const { message_id } = await say('kettle?')
    expect(await refused('GET', `/messages/${message_id}/suggested?user=u1`)).toMatchObject({
      code: 'bad_request',
      message: 'Suggested Questions Is Disabled.',
    })
    expect(await refused('GET', `/messages/${UNKNOWN}/suggested?user=u1`)).toMatchObject({ status: 404 })
  })

  test('A24: show and change nothing of another end user', async () => {
    const mine = await say('kettle?', { user: 'owner' })
    await say('kettle?', { user: 'other' })
    const missing = { status: 404, message: 'Conversation Not Exists.' }
    const { conversation_id, message_id } = mine
    expect(await refused('GET', `/messages?user=other&conversation_id=${conversation_id}`)).toMatchObject(missing)
    expect(await refused('DELETE', `/conversations/${conversation_id}`, { user: 'other' })).toMatchObject(missing)
    expect(await refused('POST', `/conversations/${conversation_id}/name`, { user: 'other', name: 'x' })).toMatchObject(
      missing,
    )
    expect(
      await refused('POST', '/chat-messages', { query: 'q', user: 'other', inputs, conversation_id }),
    ).toMatchObject(missing)
    expect(await refused('POST', `/messages/${message_id}/feedbacks`, { user: 'other', rating: 'like' })).toMatchObject(
      {
        message: 'Message Not Exists.',
      },
    )
    expect((await conversations('user=other')).data.map(({ id }) => id)).not.toContain(conversation_id)
    expect(await conversations('user=nobody')).toMatchObject({ data: [], has_more: false })
  })
})

describe('the application', () => {
  test('refuses a key beyond its rate limit with 429 rate_limit_error', async () => {
    const small = await startChat({}, { settings: { rateLimit: 2 } })
    const statuses: number[] = []
    for (let n = 0; n < 3; n++) statuses.push((await small.chat('GET', '/info')).status)
    expect(statuses).toEqual([200, 200, 429])
    const refusal = await small.chat('GET', '/info')
    expect(Number(refusal.headers.get('retry-after'))).toBeGreaterThan(1)
    expect(await refusal.json()).toMatchObject({ code: 'rate_limit_error', status: 429 })
    await small.end()
  })

  test('serves info, parameters, meta and site', async () => {
    const read = async (path: string) => await (await chat.chat('GET', path)).json()
    expect(await read('/info')).toMatchObject({ name: 'Shop assistant', mode: 'chat', tags: [] })
    expect(await read('/parameters')).toMatchObject({
      opening_statement: 'Hello {{city}}',
      user_input_form: chat.app.userInputForm,
      file_upload: { enabled: false, image: { enabled: false } },
      retriever_resource: { enabled: true },
    })
    expect(await read('/meta?user=x')).toEqual({ tool_icons: {} })
    expect(await read('/site')).toMatchObject({ title: 'Shop assistant', icon_url: null })
  })

  test.each([
    [{}, "Authorization header must be provided and start with 'Bearer'"],
    [{ authorization: 'app-nothing' }, "Authorization header must be provided and start with 'Bearer'"],
    [{ authorization: 'Basic abc' }, "Authorization scheme must be 'Bearer'"],
    [{ authorization: 'Bearer app-unknown' }, 'Access token is invalid'],
  ])('refuses the credentials %j', async (headers, message) => {
    const response = await chat.edge.send('GET', '/v1/info', { headers })
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="api"')
    expect(await response.json()).toEqual({ code: 'unauthorized', message, status: 401 })
  })

  test('describes the service at its root without a key', async () => {
    for (const path of ['/v1', '/v1/']) {
      const response = await chat.edge.send('GET', path)
      expect(response.status).toBe(200)
      expect(response.headers.get('x-request-id')).toBe(response.headers.get('x-trace-id'))
      expect(await response.json()).toEqual({ welcome: expect.any(String), api_version: 'v1', server_version: '1.0.0' })
    }
    expect((await chat.edge.send('POST', '/v1/')).status).toBe(405)
  })

  test('answers 404 for an unknown path and 405 for a wrong method, in the shape of all errors', async () => {
    expect(await refused('POST', '/workflows/run', {})).toMatchObject({ code: 'not_found', status: 404 })
    expect(await refused('GET', '/apps/nothing')).toMatchObject({ code: 'not_found', status: 404 })
    expect(await refused('PUT', '/info', {})).toMatchObject({ code: 'method_not_allowed', status: 405 })
    // Without a key every path gets 401.
    for (const [method, path] of [
      ['POST', '/v1/workflows/run'],
      ['PUT', '/v1/info'],
      ['GET', '/v1/info'],
    ] as const) {
      const response = await chat.edge.send(method, path)
      expect([response.status, await response.json()]).toMatchObject([401, { code: 'unauthorized', status: 401 }])
    }
    const broken = await chat.chat('POST', '/chat-messages', {
      body: '{"query":',
      headers: { 'content-type': 'application/json' },
    })
    expect(await broken.json()).toMatchObject({ code: 'bad_request', status: 400 })
  })

  test('answers HEAD like GET without the body', async () => {
    const [get, head] = [await chat.chat('GET', '/info'), await chat.chat('HEAD', '/info')]
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect(head.headers.get('content-length')).toBe(String((await get.arrayBuffer()).byteLength))
    const wrong = await chat.chat('HEAD', '/chat-messages')
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST'])
    expect((await chat.chat('POST', '/info')).headers.get('allow')).toBe('GET, HEAD')
    await expect.poll(() => chat.edge.work.count()).toBe(0)
  })

  test('allows pages of any site, with a preflight that needs no key', async () => {
    const preflight = await chat.edge.send('OPTIONS', '/v1/chat-messages', {
      headers: { origin: 'https://a.example', 'access-control-request-method': 'POST' },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
    expect(preflight.headers.get('access-control-allow-headers')).toContain('Authorization')
  })
})

function answerOf(events: Event[]): string {
  return events.flatMap((event) => (event.event === 'message' ? [String(event.answer)] : [])).join('')
}

async function messages(conversationId: string, user = 'u1', more = '') {
  const response = await chat.chat('GET', `/messages?user=${user}&conversation_id=${conversationId}${more}`)
  return bodyOf<Page<Record<string, unknown>>>(response)
}

async function conversations(query: string) {
  return bodyOf<Page<{ id: string; name: string }>>(await chat.chat('GET', `/conversations?${query}`))
}
