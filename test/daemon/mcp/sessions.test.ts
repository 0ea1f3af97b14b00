import { afterEach, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { McpSessions } from '../../../src/mcp/sessions.js'
import { startEdge, type TestEdge } from '../../helpers/daemon.js'
import { ADA, ingest } from '../../helpers/engine.js'
import { connectClient } from '../../helpers/mcp.js'
import { until } from '../../helpers/until.js'

let edge: TestEdge

beforeEach(async () => {
  edge = await startEdge()
  for (const [token, slug] of [
    [edge.tokens.ada, 'one'],
    [edge.tokens.ada, 'two'],
    [edge.tokens.bob, 'theirs'],
  ] as const)
    await edge.send('POST', '/knowledge-spaces', { token, json: { name: slug, slug } })
})
afterEach(() => edge.end())

const HEADERS = { accept: 'application/json, text/event-stream' }
const initialize = (protocolVersion: string) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
})

const boundedSessions = (limits: { perCaller?: number; max?: number; idleMs?: number }) =>
  new McpSessions({ version: '0', dispatch: async (request) => edge.app.fetch(request, {}), limits })

/** Sends requests to sessions without a daemon. */
function clientOf(sessions: McpSessions) {
  const headers = { ...HEADERS, 'content-type': 'application/json' }
  const post = (body: unknown, key: string, tenant: string, more = {}) =>
    sessions.handle(new Request('http://x/mcp', { method: 'POST', headers: { ...headers, ...more } }), body, {
      ...{ key, tenant, token: 't', mayWrite: false },
    })
  return {
    open: async (key: string, tenant = key) => {
      const response = await post(initialize('2025-11-25'), key, tenant)
      await response.text()
      return { status: response.status, id: response.headers.get('mcp-session-id') ?? '' }
    },
    ping: async (key: string, id: string, tenant = key) => {
      const response = await post({ jsonrpc: '2.0', id: 1, method: 'ping' }, key, tenant, { 'mcp-session-id': id })
      await response.text()
      return response.status
    },
    /** Opens the stream for messages of the service. */
    stream: async (key: string, tenant: string, id: string) => {
      const request = new Request('http://x/mcp', { headers: { accept: 'text/event-stream', 'mcp-session-id': id } })
      const { body } = await sessions.handle(request, undefined, { key, tenant, token: 't', mayWrite: false })
      if (body === null) throw new Error('the stream has no body')
      return body.getReader()
    },
  }
}

test.each(['2025-11-25', '2025-06-18', '2025-03-26'])(
  'an MCP client of protocol version %s gets this version',
  async (version) => {
    const response = await edge.send('POST', '/mcp', {
      token: edge.tokens.ada,
      json: initialize(version),
      headers: HEADERS,
    })
    expect(response.status).toBe(200)
    expect(response.headers.get('mcp-session-id')).toBeTruthy()
    expect(response.headers.get('x-trace-id')).toBeTruthy()
    expect(await response.text()).toContain(`"protocolVersion":"${version}"`)
  },
)

test('an MCP client that initializes with the id of an ended session gets a new session', async () => {
  const response = await edge.send('POST', '/mcp', {
    token: edge.tokens.ada,
    json: initialize('2025-11-25'),
    headers: { ...HEADERS, 'mcp-session-id': '00000000-0000-4000-8000-000000000000' },
  })
  expect(response.status).toBe(200)
  expect(response.headers.get('mcp-session-id')).toMatch(/^[0-9a-f-]{36}$/)
  expect(response.headers.get('mcp-session-id')).not.toContain('00000000')
  await response.text()
})

test('an MCP client sees only the spaces of its tenant, even with the session id of another tenant', async () => {
  const ada = await connectClient(edge, edge.tokens.ada)
  const bob = await connectClient(edge, edge.tokens.bob)
  expect(await bob.text('spaces')).not.toContain('one:')
  expect(await bob.text('spaces')).toContain('theirs:')
  expect(await ada.text('spaces')).toMatch(/one:(?:.|\n)*two:/)
  for (const token of [edge.tokens.bob, edge.tokens.carol]) {
    const stolen = await edge.send('POST', '/mcp', {
      token,
      json: { jsonrpc: '2.0', id: 2, method: 'tools/list' },
      headers: { ...HEADERS, 'mcp-session-id': ada.transport.sessionId ?? '' },
    })
    expect(stolen.status).toBe(404)
  }
})

test('an MCP request needs a token with a scope, and a read-only token gets no writing tools', async () => {
  const send = (token?: string) =>
    edge.send('POST', '/mcp', { token, json: initialize('2025-11-25'), headers: HEADERS })
  expect((await send()).status).toBe(401)
  expect((await send()).headers.get('www-authenticate')).toBe('Bearer')
  expect((await send(edge.tokens.noScope)).status).toBe(403)
  expect((await edge.send('GET', '/mcp/elsewhere')).status).toBe(401)
  const reader = await connectClient(edge, edge.tokens.readOnly)
  const { tools } = await reader.client.listTools()
  expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([])
  await expect(reader.client.callTool({ name: 'write', arguments: {} })).rejects.toThrow('no tool')
})

test('an MCP session can be restricted to one space', async () => {
  const { text } = await connectClient(edge, edge.tokens.ada, { query: '?space=two' })
  expect(await text('spaces')).not.toContain('one')
  expect(await text('list', { space: 'one' })).toContain('not-found')
  expect(await text('list', {})).toContain('/sources/uploads/')
})

test('the MCP tool research runs as a protocol task, or by polling for clients without task support', async () => {
  const { items } = (await (await edge.send('GET', '/knowledge-spaces', { token: edge.tokens.ada })).json()) as {
    items: { id: string; slug: string }[]
  }
  const one = items.find(({ slug }) => slug === 'one')?.id ?? ''
  await ingest(edge.engine, ADA, one, { 'desk.md': '# Desk\n\nA desk costs 300 euros in the shop of Husum.\n' })
  const { client, text } = await connectClient(edge, edge.tokens.ada)
  const { tools } = await client.listTools()
  expect(tools.find(({ name }) => name === 'research')?.execution?.taskSupport).toBe('optional')
  const args = { question: 'What does a desk cost?', space: 'one' }
  const loose = z.looseObject({})
  const params = { name: 'research', arguments: args, task: { ttl: 60_000 } }
  const { task } = z
    .looseObject({ task: z.looseObject({ taskId: z.string(), status: z.string() }) })
    .parse(await client.request({ method: 'tools/call', params }, loose))
  expect(task.status).toBe('working')
  const result = await client.request({ method: 'tasks/result', params: { taskId: task.taskId } }, loose)
  expect(JSON.stringify(result)).toContain('300 euros')
  expect(await client.request({ method: 'tasks/get', params: { taskId: task.taskId } }, loose)).toMatchObject({
    status: 'completed',
  })
  expect(await client.request({ method: 'tasks/list' }, loose)).toMatchObject({ tasks: [{ taskId: task.taskId }] })
  await expect(client.request({ method: 'tasks/cancel', params: { taskId: task.taskId } }, loose)).rejects.toThrow()

  const started = await client.callTool({ name: 'research', arguments: args })
  const { researchTaskId } = z.looseObject({ researchTaskId: z.string() }).parse(started.structuredContent)
  await until(async () => (await text('research_status', { researchTaskId })).includes('300 euros'))
  const bob = await connectClient(edge, edge.tokens.bob)
  expect(await bob.text('research_status', { researchTaskId })).toContain('not-found')
})

test('fifty concurrent MCP sessions answer, and nothing runs after they end', async () => {
  const before = edge.work.count()
  const sessions = await Promise.all(Array.from({ length: 50 }, () => connectClient(edge, edge.tokens.ada)))
  const answers = await Promise.all(sessions.map(({ text }) => text('spaces')))
  expect(new Set(sessions.map(({ transport }) => transport.sessionId)).size).toBe(50)
  for (const answer of answers) expect(answer).toContain('two:')
  await Promise.all(
    sessions.map(async ({ client, transport }) => {
      await transport.terminateSession()
      await client.close()
    }),
  )
  await until(() => edge.work.count() === before)
})

test('MCP sessions are limited per caller and in total, and end when idle', async () => {
  const sessions = boundedSessions({ perCaller: 3, max: 4, idleMs: 10_000 })
  const { open, ping } = clientOf(sessions)
  const [first, second] = [await open('a'), await open('a')]
  await open('a')
  await ping('a', first.id)
  await open('a')
  expect(sessions.count).toBe(3)
  expect(await ping('a', first.id)).toBe(200)
  expect(await ping('a', second.id)).toBe(404)
  await open('b')
  expect((await open('c')).status).toBe(200)
  expect(sessions.count).toBe(4)
  await sessions.sweep(performance.now() + 10_001)
  expect(sessions.count).toBe(0)
  await sessions.close()
})

test('a tenant that occupies all MCP sessions with open streams loses its oldest session to another tenant', async () => {
  const sessions = boundedSessions({ max: 6 })
  const { open, stream, ping } = clientOf(sessions)
  const theirs: string[] = []
  for (const subject of ['a', 'b', 'c', 'd', 'e', 'f']) theirs.push((await open(subject, 'flood')).id)
  const streams = await Promise.all(theirs.map((id, n) => stream('abcdef'.charAt(n), 'flood', id)))
  const own = await open('v', 'victim')
  expect(own.status).toBe(200)
  expect(await ping('v', own.id, 'victim')).toBe(200)
  expect(await ping('a', theirs[0] ?? '', 'flood')).toBe(404)
  // Its stream ends, the others continue.
  expect((await streams[0]?.read())?.done).toBe(true)
  expect(await ping('b', theirs[1] ?? '', 'flood')).toBe(200)
  // Further sessions of the flooding tenant replace its own.
  for (let n = 0; n < 12; n++) expect((await open(`s${n}`, 'flood')).status).toBe(200)
  expect(await ping('v', own.id, 'victim')).toBe(200)
  expect(sessions.count).toBe(6)
  await sessions.close()
})

test("an MCP session above the limit closes a session without a stream of the tenant's caller with most sessions", async () => {
  const sessions = boundedSessions({ max: 4 })
  const { open, stream, ping } = clientOf(sessions)
  const lone = await open('lone', 'a')
  const held = await open('heavy', 'a')
  await stream('heavy', 'a', held.id)
  const idle = await open('heavy', 'a')
  await open('heavy', 'a')
  await open('v', 'b')
  expect(await ping('heavy', idle.id, 'a')).toBe(404)
  expect([await ping('lone', lone.id, 'a'), await ping('heavy', held.id, 'a')]).toEqual([200, 200])
  await sessions.close()
})

test('a tenant gets 503 for a new MCP session only if no tenant exceeds its share of the sessions', async () => {
  const sessions = boundedSessions({ max: 3 })
  const { open } = clientOf(sessions)
  for (const tenant of ['a', 'b', 'c']) expect((await open(tenant, tenant)).status).toBe(200)
  expect((await open('d', 'd')).status).toBe(503)
  // A tenant may replace its own session.
  expect((await open('a', 'a')).status).toBe(200)
  expect(sessions.count).toBe(3)
  await sessions.close()
})

test('an open MCP stream counts as work in progress, but does not delay the stop of the daemon', async () => {
  const ada = await connectClient(edge, edge.tokens.ada)
  await until(() => edge.work.count() === 1)
  // The request that opens it may still be in transit.
  await until(() => {
    edge.work.stop()
    return edge.work.count() === 0
  })
  await ada.client.close()
})
