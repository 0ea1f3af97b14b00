import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startEdge, type TestEdge } from '../../helpers/daemon.js'
import { callForText } from '../../helpers/mcp.js'

/** Two applications with separate sessions on one engine, like gateways behind a balancer on one database. */
let one: TestEdge
let other: TestEdge

beforeEach(async () => {
  one = await startEdge()
  other = await startEdge({ engine: one.engine, dataDir: one.dataDir })
  const json = { name: 'Harbour', slug: 'harbour' }
  await one.send('POST', '/knowledge-spaces', { token: one.tokens.ada, json })
})
afterEach(() => one.end())

test('an MCP session sent to another gateway gets 404; its client reconnects and finds the files that it wrote', async () => {
  let serving = one
  const begin = async () => {
    const transport = new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), {
      requestInit: { headers: { authorization: `Bearer ${one.tokens.ada}` } },
      fetch: async (url, init) => serving.app.request(url, init),
    })
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(transport)
    return { client, transport }
  }
  const first = await begin()
  expect(await callForText(first.client, 'write', { path: '/workspaces/w/n.md', content: 'hello' })).toContain(
    'Written',
  )
  serving = other
  const id = first.transport.sessionId ?? ''
  const raw = await other.send('POST', '/mcp', {
    token: one.tokens.ada,
    json: { jsonrpc: '2.0', id: 2, method: 'tools/list' },
    headers: { accept: 'application/json, text/event-stream', 'mcp-session-id': id },
  })
  expect([raw.status, await raw.json()]).toMatchObject([404, { error: { message: 'Session not found' } }])
  await expect(first.client.listTools()).rejects.toMatchObject({
    message: expect.stringMatching(/404|Session not found/),
  })
  const again = await begin()
  expect(again.transport.sessionId).not.toBe(id)
  expect(await callForText(again.client, 'read', { document: '/workspaces/w/n.md' })).toContain('hello')
  // The first gateway still has the session.
  serving = one
  expect((await first.client.listTools()).tools.length).toBeGreaterThan(10)
  await first.client.close()
  serving = other
  await again.client.close()
})
