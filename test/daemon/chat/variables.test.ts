import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { VariableItem } from '../../../src/contract/chat/variables.js'
import { bodyOf, startKsd, temporaryDir } from '../../helpers/daemon.js'
import { rowsOf } from '../../helpers/databases.js'
import { startEngine, type TestEngine } from '../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../helpers/fake-openai.js'
import { createTestTokens } from '../../helpers/tokens.js'
import { type ChatEdge, eventsOf, startChat } from './helpers.js'

const PROVIDER = { pluginId: 'openai-compatible', provider: 'fake' }
const MODEL = { ...PROVIDER, model: 'caller' }
const UNKNOWN = '01890000-0000-7000-8000-000000000000'

const VARIABLES = [
  { name: 'city', valueType: 'string', description: 'where the user lives', default: 'Oslo' },
  { name: 'visits', valueType: 'number' },
  { name: 'is_member', valueType: 'boolean' },
  { name: 'profile', valueType: 'object', default: { plan: 'free' } },
  { name: 'shop.tags', valueType: 'array[string]', default: ['new'] },
  { name: 'scores', valueType: 'array[number]' },
  { name: 'orders', valueType: 'array[object]' },
]

let server: FakeOpenAi
let running: TestEngine
let chat: ChatEdge

/** `remember NAME VALUE` makes the model call the tool. */
function calls(messages: { role: string; content: string }[]) {
  const asked = messages.findLast(({ role }) => role === 'user')?.content ?? ''
  const [word, name, ...value] = asked.split(' ')
  const done = messages.slice(messages.findLastIndex(({ role }) => role === 'user')).some(({ role }) => role === 'tool')
  if (word !== 'remember' || done) return []
  return [{ name: 'remember', arguments: JSON.stringify({ name, value: value.join(' ') }) }]
}

beforeAll(async () => {
  server = await startFakeOpenAi({ toolCalls: calls, answer: () => 'Noted.' })
  running = await startEngine({ providers: [{ ...PROVIDER, baseUrl: `${server.url}/v1` }], defaultGenerator: MODEL })
  chat = await startChat({}, { engine: running.engine })
})
afterAll(async () => {
  await chat.end()
  await running.end()
  await server.close()
})

interface App {
  id: string
  key: string
}
type Item = typeof VariableItem._output

async function appOf(fields: object): Promise<App> {
  const made = await manage('POST', '/chat-apps', { name: 'App', conversationVariables: VARIABLES, ...fields })
  expect(made.status).toBe(201)
  const { id } = await bodyOf<{ id: string }>(made)
  return { id, key: (await bodyOf<{ key: string }>(await manage('POST', `/chat-apps/${id}/keys`))).key }
}

function manage(method: string, path: string, json?: object): Promise<Response> {
  return chat.edge.send(method, path, { token: chat.token, ...(json === undefined ? {} : { json }) })
}

function call({ key }: App, method: string, path: string, json?: object): Promise<Response> {
  return chat.edge.send(method, `/v1${path}`, { token: key, ...(json === undefined ? {} : { json }) })
}

/** @returns the id of the conversation */
async function say(app: App, query = 'hello', more: object = {}): Promise<string> {
  const json = { query, user: 'u', auto_generate_name: false, ...more }
  const events = await eventsOf(await call(app, 'POST', '/chat-messages', json))
  return String(events.at(-1)?.conversation_id)
}

interface Page {
  limit: number
  has_more: boolean
  data: Item[]
}

async function list(app: App, conversation: string, query = '', user = 'u'): Promise<Page> {
  const response = await call(app, 'GET', `/conversations/${conversation}/variables?user=${user}${query}`)
  const page = await bodyOf<Page>(response)
  expect({ status: response.status, ...page }).toMatchObject({ status: 200, limit: expect.any(Number) })
  for (const item of page.data) expect(VariableItem.safeParse(item).error).toBeUndefined()
  return page
}

async function values(app: App, conversation: string): Promise<Record<string, string>> {
  return Object.fromEntries((await list(app, conversation)).data.map(({ name, value }) => [name, value]))
}

/** Rows of the conversations of these applications, from the database. */
function rowsOfApps(apps: App[]): number {
  return rowsOf(running.dataDir).value(
    `SELECT count(*) n FROM chat_conversation_variables v LEFT JOIN chat_conversations c ON c.id = v.conversation_id
     WHERE c.id IS NULL OR c.app_id IN (${apps.map(() => '?').join()})`,
    ...apps.map(({ id }) => id),
  )
}

/** Sets a variable. @param more further fields of the body */
async function set(app: App, conversation: string, name: string, value: unknown, more: object = {}, method = 'PUT') {
  const { data } = await list(app, conversation)
  const id = data.find((item) => item.name === name)?.id ?? UNKNOWN
  return call(app, method, `/conversations/${conversation}/variables/${id}`, { value, user: 'u', ...more })
}

describe('variables of a conversation', () => {
  test('start with their defaults as strings, in the order in which the application defines them', async () => {
    const app = await appOf({})
    const { data, ...page } = await list(app, await say(app))
    expect(page).toEqual({ limit: 20, has_more: false })
    expect(data.map(({ name, value_type, value, description }) => [name, value_type, value, description])).toEqual([
      ['city', 'string', 'Oslo', 'where the user lives'],
      ['visits', 'number', '0', ''],
      ['is_member', 'boolean', 'false', ''],
      ['profile', 'object', '{"plan":"free"}', ''],
      ['shop.tags', 'array[string]', '["new"]', ''],
      ['scores', 'array[number]', '[]', ''],
      ['orders', 'array[object]', '[]', ''],
    ])
    expect(Math.abs((data[0]?.created_at ?? 0) - Date.now() / 1000)).toBeLessThan(600)
  })

  test('can be listed by page and filtered by a part of the name in any case', async () => {
    const app = await appOf({})
    const conversation = await say(app)
    const all = (await list(app, conversation)).data
    const seen: Item[] = []
    for (let more = true; more; ) {
      const page = await list(app, conversation, `&limit=3&last_id=${seen.at(-1)?.id ?? ''}`)
      seen.push(...page.data)
      more = page.has_more
    }
    expect(seen).toEqual(all)
    const named = async (part: string) =>
      (await list(app, conversation, `&variable_name=${part}`)).data.map(({ name }) => name)
    expect(await named('S')).toEqual(['visits', 'is_member', 'shop.tags', 'scores', 'orders'])
    expect(await named('_')).toEqual(['is_member'])
    expect(await named('P.T')).toEqual(['shop.tags'])
    expect(await named('none')).toEqual([])
  })

  test.each([
    ['last_id=01890000-0000-7000-8000-000000000000', 'last_id'],
    ['last_id=x', 'last_id'],
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['variable_name=a%20b', 'variable_name'],
    ['variable_name=%25', 'variable_name'],
    [`variable_name=${'a'.repeat(256)}`, 'variable_name'],
  ])('refuse the invalid query %s', async (query, params) => {
    const app = await appOf({})
    const conversation = await say(app)
    const response = await call(app, 'GET', `/conversations/${conversation}/variables?user=u&${query}`)
    expect(await response.json()).toMatchObject({ status: 400, code: 'invalid_param', params })
  })

  test('belong to the application and the end user, and are deleted with the conversation', async () => {
    const [app, other] = [await appOf({}), await appOf({})]
    const conversation = await say(app)
    await say(app, 'hello', { user: 'v' })
    const [item] = (await list(app, conversation)).data
    const missing = { status: 404, code: 'conversation_not_exists', message: 'Conversation Not Exists.' }
    const path = `/conversations/${conversation}/variables`
    const refused = async (by: App, user: string) => {
      expect(await (await call(by, 'GET', `${path}?user=${user}`)).json()).toMatchObject(missing)
      const body = { value: 'x', user }
      expect(await (await call(by, 'PUT', `${path}/${item?.id}`, body)).json()).toMatchObject(missing)
    }
    await refused(app, 'v')
    await refused(app, 'nobody')
    await refused(other, 'u')
    const mine = await say(other)
    expect(
      await (
        await call(other, 'PUT', `/conversations/${mine}/variables/${item?.id}`, { value: 'x', user: 'u' })
      ).json(),
    ).toMatchObject({ status: 404, code: 'not_found', message: 'Conversation Variable Not Exists.' })
    expect(await values(app, conversation)).toMatchObject({ city: 'Oslo' })
    expect((await call(app, 'DELETE', `/conversations/${conversation}`, { user: 'u' })).status).toBe(204)
    await refused(app, 'u')
    expect(await values(other, mine)).toMatchObject({ city: 'Oslo' })
    expect((await manage('DELETE', `/chat-apps/${other.id}`)).status).toBe(204)
    // Only the conversation of the other end user remains.
    expect(rowsOfApps([app, other])).toBe(VARIABLES.length)
  })

  test('added to the application later appear with the next message; existing variables keep their values', async () => {
    const app = await appOf({ conversationVariables: VARIABLES.slice(0, 2) })
    const conversation_id = await say(app)
    await set(app, conversation_id, 'city', '12')
    await set(app, conversation_id, 'visits', 3)
    const change = (conversationVariables: object[]) =>
      manage('PATCH', `/chat-apps/${app.id}`, { conversationVariables })
    const later = { name: 'later', valueType: 'string', default: 'yes' }
    // Changes a type that fits the value, a type that does not, and adds a variable.
    expect(
      (await change([{ name: 'city', valueType: 'number' }, { name: 'visits', valueType: 'object' }, later])).status,
    ).toBe(200)
    expect(await values(app, conversation_id)).toEqual({ city: '12', visits: '3' })
    await say(app, 'again', { conversation_id })
    expect((await list(app, conversation_id)).data).toMatchObject([
      { name: 'city', value: '12', value_type: 'number', description: '' },
      { name: 'visits', value: '{}', value_type: 'object' },
      { name: 'later', value: 'yes', value_type: 'string' },
    ])
    // A variable that the application removed stays in the conversation.
    await change([])
    await say(app, 'again', { conversation_id })
    expect(Object.keys(await values(app, conversation_id))).toEqual(['city', 'visits', 'later'])
    expect(await values(app, await say(app))).toEqual({})
  })
})

describe('setting a variable', () => {
  test.each([
    ['city', 'Bergen', 'Bergen'],
    ['city', '', ''],
    ['city', '  ', '  '],
    ['visits', 4.5, '4.5'],
    ['visits', '-7', '-7'],
    ['is_member', true, 'true'],
    ['is_member', 'false', 'false'],
    ['profile', { plan: 'paid', since: [2024] }, '{"plan":"paid","since":[2024]}'],
    ['profile', '{ "a": "ø" }', '{"a":"ø"}'],
    ['shop.tags', ['a', 'b'], '["a","b"]'],
    ['scores', '[1, 2.5]', '[1,2.5]'],
    ['orders', [{ id: 1 }], '[{"id":1}]'],
  ])('accepts for %s the value %j', async (name, value, text) => {
    const app = await appOf({})
    const conversation = await say(app)
    for (const method of ['PUT', 'PATCH']) {
      const response = await set(app, conversation, name, value, {}, method)
      const item = await bodyOf<Item>(response)
      expect({ status: response.status, ...item }).toMatchObject({ status: 200, name, value: text })
      expect((await list(app, conversation)).data.find(({ id }) => id === item.id)).toEqual(item)
    }
  })

  test.each<[string, unknown, string]>([
    ['city', 5, 'value of city must be of type string, received 5'],
    ['city', ['x'], 'value of city must be of type string, received a list'],
    ['city', 'x'.repeat(10_001), 'value of city must have at most 10000 characters'],
    ['visits', 'many', 'value of visits must be of type number, received "many"'],
    ['visits', '', 'value of visits must be of type number, received ""'],
    ['is_member', 1, 'value of is_member must be of type boolean, received 1'],
    ['profile', [], 'value of profile must be of type object, received a list'],
    ['shop.tags', [1], 'value of shop.tags must be of type array[string]'],
    ['scores', ['1'], 'value of scores must be of type array[number]'],
    ['orders', [[]], 'value of orders must be of type array[object]'],
    ['city', null, 'value: a value is required'],
    ['city', undefined, 'value: a value is required'],
  ])('refuses for %s the value %j', async (name, value, message) => {
    const app = await appOf({})
    const conversation = await say(app)
    const before = await values(app, conversation)
    const refused = await bodyOf<{ message: string }>(await set(app, conversation, name, value))
    expect(refused).toMatchObject({ status: 400, code: 'invalid_param', params: 'value' })
    expect(refused.message).toContain(message)
    expect(await values(app, conversation)).toEqual(before)
  })

  test('refuses unknown ids, a missing user and blocked words', async () => {
    const side = { enabled: true, response: 'No.' }
    const app = await appOf({ sensitiveWords: { enabled: true, words: ['bomb'], inputs: side } })
    const conversation = await say(app)
    const answer = async (name: string, value: unknown, more: object = {}) =>
      (await set(app, conversation, name, value, more)).json()
    expect(await answer('none', 'x')).toMatchObject({ status: 404, code: 'not_found' })
    expect(await answer('city', 'x', { user: '' })).toMatchObject({ status: 400, params: 'user' })
    expect(await answer('profile', { a: 'BOMBAY' })).toMatchObject({
      status: 400,
      params: 'value',
      message: 'value of profile contains a sensitive word',
    })
    const path = `/conversations/${conversation}/variables/x`
    expect(await (await call(app, 'PUT', path, { value: 'x', user: 'u' })).json()).toMatchObject({
      status: 400,
      params: 'variable_id',
    })
  })
})

describe('the variables of an application', () => {
  test.each<[object, string]>([
    [[{ name: '1a', valueType: 'string' }], 'conversationVariables[0].name'],
    [[{ name: 'a b', valueType: 'string' }], 'conversationVariables[0].name'],
    [[{ name: 'a'.repeat(256), valueType: 'string' }], 'conversationVariables[0].name'],
    [[{ name: 'a', valueType: 'file' }], 'conversationVariables[0].valueType'],
    [[{ name: 'a', valueType: 'number', default: '1' }], 'default: must be of type number'],
    [[{ name: 'a', valueType: 'string', default: 'x'.repeat(10_001) }], 'default: must have at most 10000'],
    [[{ name: 'a', valueType: 'string', description: 'x'.repeat(501) }], 'conversationVariables[0].description'],
    [[{ name: 'a', valueType: 'string', extra: 1 }], 'unknown key "extra"'],
    [VARIABLES.slice(0, 1).concat(VARIABLES.slice(0, 1)), 'names must be unique'],
    [Array.from({ length: 51 }, (_, n) => ({ name: `v${n}`, valueType: 'string' })), '50'],
    [[{ name: 'town', valueType: 'string' }], 'town is a variable of userInputForm too'],
  ])('refuse %j', async (conversationVariables, error) => {
    const userInputForm = [{ 'text-input': { label: 'Town', variable: 'town' } }]
    const refused = await manage('POST', '/chat-apps', { name: 'App', userInputForm, conversationVariables })
    expect([refused.status, (await bodyOf<{ error: string }>(refused)).error]).toEqual([
      400,
      expect.stringContaining(error),
    ])
  })

  test('refuse the name of an input control that is added later, and are returned as they were sent', async () => {
    const { id } = await appOf({})
    const userInputForm = [{ 'text-input': { label: 'City', variable: 'city' } }]
    expect((await manage('PATCH', `/chat-apps/${id}`, { userInputForm })).status).toBe(400)
    const app = await bodyOf<{ conversationVariables: object[] }>(await manage('GET', `/chat-apps/${id}`))
    expect(app.conversationVariables).toEqual(VARIABLES.map((variable) => ({ description: '', ...variable })))
    expect((await manage('PATCH', `/chat-apps/${id}`, { userInputForm, conversationVariables: [] })).status).toBe(200)
  })
})

describe('the model of a conversation with variables', () => {
  const instructions = 'City {{city}}, tone {{ tone }}, tags {{shop.tags}}, {{nothing}}.'
  const userInputForm = [{ 'text-input': { label: 'Tone', variable: 'tone', default: 'plain' } }]
  const told = () => server.requests.at(-1)?.body.messages?.[0]?.content

  test.each([
    ['without a space', []],
    ['with a space', ['space']],
  ])('gets the current values in its instructions: application %s', async (_, spaces) => {
    const app = await appOf({ instructions, userInputForm, knowledgeSpaceIds: spaces.map(() => chat.spaceId) })
    const query = 'How much is a blue kettle?'
    const conversation_id = await say(app, query)
    expect(told()).toContain('City Oslo, tone plain, tags ["new"], {{nothing}}.')
    await set(app, conversation_id, 'city', '{{tone}} $& Bergen')
    await say(app, query, { conversation_id })
    expect(told()).toContain('City {{tone}} $& Bergen, tone plain, tags ["new"], {{nothing}}.')
  })

  test('sets variables as an agent: the values are validated, stored at once, and visible in the next turn', async () => {
    const app = await appOf({ mode: 'agent-chat', instructions, userInputForm })
    const conversation_id = await say(app, 'remember city Trondheim')
    const tool = server.requests.at(-2)?.body.tools?.find(({ function: { name } }) => name === 'remember')
    expect(JSON.stringify(tool)).toContain('city (string): where the user lives. It holds')
    expect(await values(app, conversation_id)).toMatchObject({ city: 'Trondheim' })
    await say(app, 'remember scores [1, 2]', { conversation_id })
    expect(told()).toContain('City Trondheim, tone plain')
    expect(await values(app, conversation_id)).toMatchObject({ scores: '[1,2]' })

    const observed = async (query: string) => {
      const json = { query, user: 'u', conversation_id }
      const events = await eventsOf(await call(app, 'POST', '/chat-messages', json))
      expect(events.at(-1)?.event).toBe('message_end')
      const [seen] = events.filter(({ observation }) => typeof observation === 'string' && observation !== '')
      return JSON.parse(JSON.parse(String(seen?.observation)).remember)
    }
    expect(await observed('remember visits 9')).toEqual({ name: 'visits', value: '9' })
    expect(await observed('remember visits many')).toEqual({
      error: 'value of visits must be of type number, received "many"',
    })
    expect((await observed('remember age 5')).error).toContain('name must be one of city, visits')
    expect(await values(app, conversation_id)).toMatchObject({ visits: '9', city: 'Trondheim' })
  })

  test('sets variables as an agent that remain set if the answer then fails', async () => {
    const app = await appOf({ mode: 'agent-chat', instructions, userInputForm })
    server.script({ kind: 'ok' }, { kind: 'status', status: 400 })
    const json = { query: 'remember city Narvik', user: 'u', auto_generate_name: false }
    const events = await eventsOf(await call(app, 'POST', '/chat-messages', json))
    server.clear()
    expect(events.at(-1)).toMatchObject({ event: 'error' })
    const conversation_id = String(events.at(-1)?.conversation_id)
    expect(await values(app, conversation_id)).toMatchObject({ city: 'Narvik', visits: '0' })
    await say(app, 'hello', { conversation_id })
    expect(told()).toContain('City Narvik')
  })

  test('sets variables as an agent that remain set if the daemon is killed before the answer', async () => {
    const dir = temporaryDir()
    const env = { KS_DAEMON_PROVIDERS: JSON.stringify([{ ...PROVIDER, baseUrl: `${server.url}/v1` }]) }
    const first = await startKsd(dir.path, [], env)
    const { ada } = await createTestTokens(dir.path)
    const send = (url: string, method: string, path: string, token: string, json?: object) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      return fetch(`${url}${path}`, { method, headers, ...(json === undefined ? {} : { body: JSON.stringify(json) }) })
    }
    const fields = { name: 'A', model: MODEL, mode: 'agent-chat', instructions, conversationVariables: VARIABLES }
    const { id } = await bodyOf<{ id: string }>(await send(first.ready.url, 'POST', '/chat-apps', ada, fields))
    const { key } = await bodyOf<{ key: string }>(await send(first.ready.url, 'POST', `/chat-apps/${id}/keys`, ada))
    server.script({ kind: 'ok' }, { kind: 'hang' })
    const json = { query: 'remember city Vardø', user: 'u', auto_generate_name: false }
    const stream = await send(first.ready.url, 'POST', '/v1/chat-messages', key, json)
    let seen = ''
    for await (const chunk of stream.body ?? []) {
      seen += Buffer.from(chunk).toString('latin1')
      // the result of the tool
      if (/"observation":"[^"]/.test(seen)) break
    }
    await first.end('SIGKILL')
    server.clear()
    const second = await startKsd(dir.path, [], env)
    const conversation_id = /"conversation_id":"([^"]+)"/.exec(seen)?.[1] ?? ''
    const page = await send(second.ready.url, 'GET', `/v1/conversations/${conversation_id}/variables?user=u`, key)
    expect((await bodyOf<Page>(page)).data.map(({ name, value }) => [name, value])).toContainEqual(['city', 'Vardø'])
    const next = { ...json, query: 'hello', conversation_id }
    await (await send(second.ready.url, 'POST', '/v1/chat-messages', key, next)).text()
    expect(told()).toContain('City Vardø')
    await second.end('SIGTERM')
    dir.remove()
  })

  test('gets the tool `remember` in addition to the tools of a space, but not without variables', async () => {
    const knowledgeSpaceIds = [chat.spaceId]
    const names = () => server.requests.at(-1)?.body.tools?.map(({ function: { name } }) => name)
    const icons = async (app: App) =>
      Object.keys((await bodyOf<{ tool_icons: object }>(await call(app, 'GET', '/meta'))).tool_icons)
    const app = await appOf({ mode: 'agent-chat', knowledgeSpaceIds })
    await say(app)
    expect(names()).toEqual(['search', 'list', 'read', 'remember'])
    expect(await icons(app)).toEqual(['search', 'list', 'read', 'remember'])
    const without = await appOf({ mode: 'agent-chat', knowledgeSpaceIds, conversationVariables: [] })
    await say(without)
    expect(names()).toEqual(['search', 'list', 'read'])
    expect(await icons(without)).toEqual(['search', 'list', 'read'])
  })
})
