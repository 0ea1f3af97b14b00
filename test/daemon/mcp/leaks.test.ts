import { afterEach, beforeEach, expect, test } from 'vitest'
import { type McpCaller, McpSessions } from '../../../src/mcp/sessions.js'
import { startEdge, type TestEdge } from '../../helpers/daemon.js'
import { connectTo } from '../../helpers/mcp.js'
import { until } from '../../helpers/until.js'

let edge: TestEdge
let sessions: McpSessions

beforeEach(async () => {
  edge = await startEdge()
  await edge.send('POST', '/knowledge-spaces', { token: edge.tokens.ada, json: { name: 'One', slug: 'one' } })
  sessions = new McpSessions({ version: '0', dispatch: async (request) => edge.app.fetch(request, {}) })
})
afterEach(async () => {
  await sessions.close()
  await edge.end()
})

const PARAMS = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } }

function send(method: string, body: object | undefined, id?: string, signal?: AbortSignal): Promise<Response> {
  const caller: McpCaller = { key: 'a', tenant: 'a', token: edge.tokens.ada, mayWrite: true }
  const headers = {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    ...(id === undefined ? {} : { 'mcp-session-id': id }),
  }
  return sessions.handle(new Request('http://x/mcp', { method, headers, ...(signal ? { signal } : {}) }), body, caller)
}

async function begin(): Promise<string> {
  const response = await send('POST', { jsonrpc: '2.0', id: 1, method: 'initialize', params: PARAMS })
  await response.text()
  return response.headers.get('mcp-session-id') ?? ''
}

let requests = 1
const call = (id: string, name: string, args: object = {}) =>
  send('POST', { jsonrpc: '2.0', id: ++requests, method: 'tools/call', params: { name, arguments: args } }, id)

/** Timers, sockets and other handles that keep a process running. */
const handles = () => process.getActiveResourcesInfo().length

test('2,000 sessions, fifty at a time, leave neither sessions nor handles', async () => {
  const one = async () => {
    const id = await begin()
    const stream = await send('GET', undefined, id)
    expect((await send('DELETE', undefined, id)).status).toBe(200)
    await stream.body?.cancel()
  }
  await one()
  const before = handles()
  for (let round = 0; round < 40; round++) await Promise.all(Array.from({ length: 50 }, one))
  expect(sessions.count).toBe(0)
  expect(handles()).toBeLessThanOrEqual(before + 2)
})

test('a session whose client disconnects with an open stream becomes idle and expires', async () => {
  const id = await begin()
  const stream = await send('GET', undefined, id)
  const reader = stream.body?.getReader()
  await sessions.sweep(performance.now() + 3_600_000)
  expect(sessions.count).toBe(1)
  await reader?.cancel('the connection broke')
  await sessions.sweep(performance.now() + 3_600_000)
  expect(sessions.count).toBe(0)
})

test('a session that is deleted during a call ends that call and refuses later ones', async () => {
  const id = await begin()
  const running = call(id, 'ask', { question: 'What is there?' })
  expect((await send('DELETE', undefined, id)).status).toBe(200)
  const response = await running
  // Everything before its end was sent: the stream ends.
  await response.text()
  expect(sessions.count).toBe(0)
  const late = await call(id, 'spaces')
  expect(late.status).toBe(404)
})

test('a slow reader does not delay other calls and gets its complete answer', async () => {
  const id = await begin()
  const slow = await call(id, 'spaces')
  for (let n = 0; n < 20; n++) expect(await (await call(id, 'spaces')).text()).toContain('one: 0 documents')
  expect(await slow.text()).toContain('one: 0 documents')
})

test('a call whose client leaves is aborted and no longer counts as open work', async () => {
  const ada = await connectTo(edge, edge.tokens.ada)
  const count = edge.work.count()
  const gone = new AbortController()
  const asked = ada.client.callTool({ name: 'ask', arguments: { question: 'x' } }, { signal: gone.signal })
  gone.abort()
  await expect(asked).rejects.toThrow()
  await until(() => edge.work.count() <= count)
  expect(await ada.text('spaces')).toContain('one:')
  await ada.client.close()
})

test('sessions that exceed the limit of their caller at once are reduced to it by the next one', async () => {
  await Promise.all(Array.from({ length: 130 }, begin))
  await begin()
  expect(sessions.count).toBeLessThanOrEqual(100)
})
