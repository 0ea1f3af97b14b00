import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { bodyOf } from '../../helpers/daemon.js'
import { ask, ingest, startEngine, type TestEngine } from '../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../helpers/fake-openai.js'
import { until } from '../../helpers/until.js'
import { type Event, eventsOf } from './helpers.js'
import { type ChatCaller, startVisited, type VisitedChat } from './visitors.js'

const PROVIDER = { pluginId: 'openai-compatible', provider: 'acme-models' }
const MODEL = { ...PROVIDER, model: 'acme-large' }
const OWNER = { tenant: 'tenant-a', subject: 'ada' }
const SECRET = 'SECRET-4711'
const CALL = /^CALL (\w+) (.*)$/s

let server: FakeOpenAi
let running: TestEngine
let visited: VisitedChat

/** A question `CALL tool {…}` makes the model call a tool once; requests for titles and suggestions are answered. */
function reply(messages: { role: string; content: string }[]): string {
  if (messages[0]?.content.startsWith('Write a title')) return 'A title'
  if (messages[0]?.content.startsWith('Predict')) return '["When?", "Where?", "Why?"]'
  return 'It is so.'
}

function calls(messages: { role: string; content: string }[]) {
  const [, name, input] = CALL.exec(messages.findLast(({ role }) => role === 'user')?.content ?? '') ?? []
  if (name === undefined || input === undefined || messages.at(-1)?.role === 'tool') return []
  return [{ name, arguments: input }]
}

beforeAll(async () => {
  server = await startFakeOpenAi({ toolCalls: calls, answer: reply })
  running = await startEngine({
    providers: [{ ...PROVIDER, baseUrl: `${server.url}/v1` }],
    defaultGenerator: MODEL,
  })
  visited = await startVisited({ mode: 'agent-chat' }, { engine: running.engine })
})
afterAll(async () => {
  await visited.end()
  await running.end()
  await server.close()
})

afterEach(() => server.always())

/** The tool results that the model got for one question. */
async function resultsOf(caller: ChatCaller, tool: string, input: object): Promise<string> {
  const from = server.requests.length
  const events = await eventsOf(await caller.ask(`CALL ${tool} ${JSON.stringify(input)}`))
  expect(events.at(-1)?.event).toBe('message_end')
  const messages = server.requests.slice(from).flatMap(({ body }) => body.messages ?? [])
  return messages
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => content)
    .join('\n')
}

const callsOfModel = () => server.requests.filter(({ path }) => path.endsWith('/completions')).length

describe('the agent of a page', () => {
  const OUTSIDE = [
    '/workspaces',
    '/workspaces/board/plan.md',
    '/workspaces/board',
    '/evidence',
    '/knowledge',
    '/knowledge/entities',
    '/',
    '',
    '/sources/../workspaces/board/plan.md',
    '/sources//../workspaces',
    '/sources/./../evidence',
    '//workspaces/board/plan.md',
    '/Workspaces/board/plan.md',
    '/sources/%2e%2e/workspaces/board/plan.md',
    '/sources\\..\\workspaces',
    '/workspaces\u0000',
    '/ｗorkspaces/board/plan.md',
    'workspaces/board/plan.md',
    '/sourcesx',
  ]

  test('reads only published documents, for visitors and keys alike', async () => {
    const { fs } = running.engine
    await fs.write(OWNER, visited.chat.spaceId, { path: '/workspaces/board/plan.md', content: `${SECRET} salaries` })
    const { traceId } = await ask(running.engine, OWNER, visited.chat.spaceId, 'When does the shop open?')
    const listed = await fs.tree(OWNER, visited.chat.spaceId, { path: '/evidence', limit: 10 })
    expect(JSON.stringify(listed.root)).toContain(traceId)
    const holder = await visited.holder()
    const visitor = await visited.visit()
    for (const path of OUTSIDE)
      for (const tool of ['list', 'read']) {
        // A visitor may ask eight questions a minute.
        const callers = OUTSIDE.indexOf(path) < 3 ? [holder, visitor] : [holder]
        for (const caller of callers) {
          const result = await resultsOf(caller, tool, { path })
          expect(result, `${tool} ${path}`).toMatch(/^\{"error":/)
          for (const hidden of [SECRET, traceId]) expect(result, `${tool} ${path}`).not.toContain(hidden)
        }
      }
    expect(await resultsOf(holder, 'list', {})).toContain('hours.md')
    expect(await resultsOf(visitor, 'search', { query: 'When does the shop open?' })).toContain('nine')
  })
})

describe('limits of visitors', () => {
  test('leave the limit of keys unused, even by refused requests of visitors', async () => {
    await visited.serve([visited.chat.app], { rateLimit: 6 })
    const [visitor, second, holder] = [await visited.visit(), await visited.visit(), await visited.holder()]
    const statuses: number[] = []
    for (let sent = 0; sent < 30; sent++) statuses.push((await visitor.call('GET', '/apps/annotations')).status)
    for (let sent = 0; sent < 10; sent++) statuses.push((await second.call('GET', '/info')).status)
    expect(new Set(statuses)).toEqual(new Set([403, 200, 429]))
    const answers = await Promise.all([1, 2, 3, 4, 5, 6].map(() => holder.call('GET', '/info')))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200])
    await visited.serve([visited.chat.app])
  })

  test('leave half of the concurrent answers to keys', async () => {
    const app = await visited.create({ maxConcurrentRequests: 2 })
    await visited.serve([app])
    const [one, two, holder] = [await visited.visit(app), await visited.visit(app), await visited.holder(app)]
    const from = callsOfModel()
    server.always({ kind: 'hang' })
    const first = await one.ask('hello')
    await until(() => callsOfModel() > from)
    expect((await two.ask('hello')).status).toBe(429)
    const kept = await holder.ask('hello')
    expect([first.status, kept.status]).toEqual([200, 200])
    server.always()
    // Ends the running answers.
    await visited.chat.edge.send('DELETE', `/chat-apps/${app.id}`, { token: visited.chat.token })
    await Promise.all([first.text(), kept.text()])
  })

  test('count suggested questions and titles as calls of the model', async () => {
    const app = await visited.create({ suggestedQuestionsAfterAnswer: true })
    await visited.serve([app])
    const visitor = await visited.visit(app)
    const from = callsOfModel()
    const statuses: number[] = []
    for (let sent = 0; sent < 10; sent++) {
      const answer = await visitor.ask('hello', { response_mode: 'blocking', auto_generate_name: true })
      statuses.push(answer.status)
      if (answer.status !== 200) continue
      const { message_id } = await bodyOf<{ message_id: string }>(answer)
      statuses.push((await visitor.call('GET', `/messages/${message_id}/suggested?user=${visitor.user}`)).status)
    }
    expect([statuses[0], statuses.at(-1)]).toEqual([200, 429])
    // Eight, and some from refills; it would be 24 if titles and suggestions did not count.
    expect(callsOfModel() - from).toBeLessThan(16)
  })
})

describe('suggested questions', () => {
  const suggested = async (caller: ChatCaller, id: string) => {
    const answer = await caller.call('GET', `/messages/${id}/suggested?user=${caller.user}`)
    return (await bodyOf<{ data: string[] }>(answer)).data
  }
  const asked = async (caller: ChatCaller) =>
    (await bodyOf<{ message_id: string }>(await caller.ask('hello', { response_mode: 'blocking' }))).message_id

  test('need one call of the model, for concurrent requests and after a restart', async () => {
    const engine = await startEngine({
      providers: [{ ...PROVIDER, baseUrl: `${server.url}/v1` }],
      defaultGenerator: MODEL,
    })
    const chat = await startVisited({ suggestedQuestionsAfterAnswer: true }, { engine: engine.engine })
    const holder = await chat.holder()
    const id = await asked(holder)
    const from = callsOfModel()
    const all = ['When?', 'Where?', 'Why?']
    expect(await Promise.all([1, 2, 3].map(() => suggested(holder, id)))).toEqual([all, all, all])
    expect(await suggested(holder, id)).toEqual(all)
    await engine.reopen()
    const session = await engine.engine.chat.session({ tenant: OWNER.tenant, appId: chat.chat.app.id })
    if (session === undefined) throw new Error('the application is gone')
    expect(await engine.engine.chat.suggest(session, id, holder.user)).toEqual(all)
    expect(callsOfModel() - from).toBe(1)
    await chat.end()
    await engine.end()
  })

  test('cause another request after the model failed', async () => {
    const app = await visited.create({ suggestedQuestionsAfterAnswer: true })
    const holder = await visited.holder(app)
    const id = await asked(holder)
    server.always({ kind: 'status', status: 400 })
    expect(await suggested(holder, id)).toEqual([])
    server.always()
    expect(await suggested(holder, id)).toEqual(['When?', 'Where?', 'Why?'])
  })
})

describe('the view of a visitor', () => {
  const json = async (response: Response) => await bodyOf<Record<string, unknown>>(response)

  test('contains a fixed list of fields without owner, model or price', async () => {
    const app = await visited.create({ mode: 'agent-chat', knowledgeSpaceIds: [visited.chat.spaceId] })
    await visited.serve([app])
    const visitor = await visited.visit(app)
    expect(await json(await visitor.call('GET', '/info'))).toEqual({
      name: 'Other',
      description: '',
      tags: [],
      mode: 'agent-chat',
      spaces: [{ documents: 2, updated_at: expect.any(Number) }],
      overview: expect.stringMatching(/^Answers from 2 documents; newest change \d{4}-\d\d-\d\d\.$/),
    })
    expect(Object.keys(await json(await visitor.call('GET', `/parameters?user=${visitor.user}`)))).toEqual([
      'opening_statement',
      'suggested_questions',
      'suggested_questions_after_answer',
      'retriever_resource',
      'user_input_form',
    ])
    const events = await eventsOf(await visitor.ask('CALL search {"query":"When does the shop in Oslo open?"}'))
    const steps = events.filter(({ event }) => event === 'agent_thought')
    expect(steps.map(({ tool }) => tool)).toContain('search')
    for (const { thought, tool_input, observation } of steps)
      expect([thought, tool_input, observation]).toEqual(['', '', ''])
    const end = events.at(-1)
    expect(end?.metadata).toEqual({
      annotation_reply: null,
      retriever_resources: expect.arrayContaining([
        {
          position: 1,
          document_name: 'hours.md',
          content: expect.stringContaining('nine'),
          section_path: ['Opening hours'],
        },
      ]),
    })
    const replayed = await eventsOf(
      await visitor.call('GET', `/chat-messages/${end?.task_id}/events?user=${visitor.user}`),
    )
    expect(replayed).toEqual(events)
    const page = `/messages?user=${visitor.user}&conversation_id=${end?.conversation_id}`
    const { data } = await bodyOf<{ data: Record<string, unknown>[] }>(await visitor.call('GET', page))
    expect(data[0]?.agent_thoughts).toMatchObject([{ tool: 'search', observation: '', thought: '' }, { tool: '' }])
    expect(data[0]?.retriever_resources).toEqual(Object(end?.metadata).retriever_resources)
    const everything = JSON.stringify([events, data])
    for (const hidden of ['"ada"', 'acme', 'price', visited.chat.spaceId]) expect(everything).not.toContain(hidden)
  })

  test('names no provider when the model fails, in the stream, in the answer and in the history', async () => {
    const app = await visited.create({})
    await visited.serve([app])
    const [visitor, holder] = [await visited.visit(app), await visited.holder(app)]
    server.always({ kind: 'status', status: 401 })
    const blocking = await visitor.ask('hello', { response_mode: 'blocking' })
    const events = await eventsOf(await visitor.ask('hello'))
    const full = await json(await holder.ask('hello', { response_mode: 'blocking' }))
    server.always()
    const failed = await json(blocking)
    expect(failed).toMatchObject({ code: 'provider_not_initialize', status: 400 })
    expect(events.at(-1)).toMatchObject({ event: 'error', code: 'provider_not_initialize', message: failed.message })
    const page = `/messages?user=${visitor.user}&conversation_id=${events.at(-1)?.conversation_id}`
    const history = await (await visitor.call('GET', page)).text()
    expect(history).toContain(String(failed.message))
    expect(JSON.stringify([failed, events, history])).not.toContain('acme')
    expect(full.message).toContain('acme-models')
  })

  test('does not name the owner with the answer of an annotation', async () => {
    const app = await visited.create({})
    await visited.serve([app])
    const [visitor, holder] = [await visited.visit(app), await visited.holder(app)]
    await holder.call('POST', '/apps/annotations', { question: 'Who are you?', answer: 'The shop.' })
    await holder.call('POST', '/apps/annotation-reply/enable', { score_threshold: 0.9 })
    const parameters = async () => Object(await json(await holder.call('GET', '/parameters'))).annotation_reply
    await expect.poll(parameters).toEqual({ enabled: true })
    const full = await eventsOf(await holder.ask('Who are you?'))
    expect(Object(full.at(-1)?.metadata).annotation_reply.account.name).toBe('ada')
    const events = await eventsOf(await visitor.ask('Who are you?'))
    expect(events.at(-1)?.metadata).toEqual({ retriever_resources: [], annotation_reply: { id: expect.any(String) } })
  })
})

describe('an application without citations', () => {
  test('shows counts instead of passages to keys, and removes answers that quote a deleted document', async () => {
    const { engine } = running
    const space = await engine.spaces.create(OWNER, { name: 'Margins', slug: 'margins' })
    const [margin] = await ingest(engine, OWNER, space.id, { 'margin.md': '# Margin\n\nThe lamp has 61 percent.\n' })
    const app = await visited.create({
      mode: 'agent-chat',
      retrieverResource: false,
      knowledgeSpaceIds: [space.id],
    })
    const holder = await visited.holder(app)
    const observed = async (tool: string, input: object): Promise<[string, Event | undefined]> => {
      const events = await eventsOf(await holder.ask(`CALL ${tool} ${JSON.stringify(input)}`))
      expect(JSON.stringify(events)).not.toContain('61 percent')
      const step = events.findLast(({ event, tool: called }) => event === 'agent_thought' && called)
      return [JSON.parse(String(step?.observation))[tool], events.at(-1)]
    }
    expect((await observed('list', {}))[0]).toBe('{"entries":2}')
    expect((await observed('read', { path: '/sources/uploads/margin.md' }))[0]).toMatch(/^\{"text":\d+\}$/)
    const [found, end] = await observed('search', { query: 'margin of the lamp' })
    expect(found).toBe('{"passages":1}')
    expect(Object(end?.metadata).retriever_resources).toEqual([])
    const history = async () => {
      const page = await holder.call('GET', `/messages?user=holder&conversation_id=${end?.conversation_id}`)
      return (await bodyOf<{ data: Record<string, unknown>[] }>(page)).data[0]
    }
    const before = await history()
    expect(before).toMatchObject({ answer: 'It is so.\n\nIt is so.', retriever_resources: [] })
    expect(before?.agent_thoughts).toMatchObject([{ observation: '{"search":"{\\"passages\\":1}"}' }, {}])
    await engine.documents.delete(OWNER, space.id, [String(margin?.asset.id)])
    expect(await history()).toMatchObject({ answer: 'This answer quoted a document that was deleted.' })
  })
})
