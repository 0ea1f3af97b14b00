import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { listenTcp } from '../../../src/daemon/listen.js'
import { type McpCaller, McpSessions } from '../../../src/mcp/sessions.js'
import { startEdge, type TestEdge } from '../../helpers/daemon.js'
import { connectClient } from '../../helpers/mcp.js'
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

test('2,000 MCP sessions, fifty at a time, leave neither open sessions nor handles after they are deleted', async () => {
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

test('an MCP session whose client disconnects with an open stream becomes idle and expires', async () => {
  const id = await begin()
  const stream = await send('GET', undefined, id)
  const reader = stream.body?.getReader()
  await sessions.sweep(performance.now() + 3_600_000)
  expect(sessions.count).toBe(1)
  await reader?.cancel('the connection broke')
  await sessions.sweep(performance.now() + 3_600_000)
  expect(sessions.count).toBe(0)
})

test('deleting an MCP session during a call ends the stream of the call; later calls get 404', async () => {
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

test('an MCP client that reads a response late delays no other calls and gets the complete response', async () => {
  const id = await begin()
  const slow = await call(id, 'spaces')
  for (let n = 0; n < 20; n++) expect(await (await call(id, 'spaces')).text()).toContain('one: 0 documents')
  expect(await slow.text()).toContain('one: 0 documents')
})

test('an MCP call that its client cancels is aborted, and nothing runs after the client disconnects', async () => {
  // Over a socket, which the client closes when it leaves.
  const tcp = await listenTcp(edge.app, { listen: '127.0.0.1:0', insecure: false, anyPort: false })
  const request = async (input: Request | string | URL, init?: RequestInit) =>
    fetch(new URL(new URL(String(input)).pathname, tcp.url), init)
  const count = edge.work.count()
  const ada = await connectClient({ app: { request } }, edge.tokens.ada)
  let isAborted = false
  // A query that ends with its signal only.
  const start = vi.spyOn(edge.engine.queries, 'start').mockImplementation(
    (_caller, _body, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          isAborted = true
          reject(signal.reason)
        })
      }),
  )
  const gone = new AbortController()
  const asked = ada.client.callTool({ name: 'ask', arguments: { question: 'x' } }, { signal: gone.signal })
  await Promise.all([
    expect(asked).rejects.toThrow(),
    until(() => start.mock.calls.length > 0 && edge.work.count() > count).then(() => gone.abort()),
  ])
  await until(() => isAborted)
  start.mockRestore()
  expect(await ada.text('spaces')).toContain('one:')
  await ada.client.close()
  await until(() => edge.work.count() <= count)
  tcp.server.closeAllConnections()
  tcp.server.close()
})

test('130 MCP sessions that one caller opens at once are reduced to the limit of 100 by its next session', async () => {
  await Promise.all(Array.from({ length: 130 }, begin))
  await begin()
  expect(sessions.count).toBe(100)
})
