import { createServer, type Server, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { getRequestListener } from '@hono/node-server'
import { execa } from 'execa'
import { afterEach, expect, test } from 'vitest'
import { McpSessions } from '../../../src/mcp/sessions.js'
import { startKsd, temporaryDir } from '../../helpers/daemon.js'
import { createEverythingServer } from '../../helpers/mcp-everything.js'
import { createTestTokens } from '../../helpers/tokens.js'

/** The official suite, a separate program. */
const SUITE = fileURLToPath(
  new URL('../../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
)
const ON_NODE_20 = new URL('../../helpers/conformance-on-node-20.mjs', import.meta.url).href

/** Scenarios that every server must pass; the others need the tools of a special test server. */
const OURS = [
  'server-initialize',
  'logging-set-level',
  'ping',
  'completion-complete',
  'tools-list',
  'resources-list',
  'prompts-list',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
]

const open: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const end of open.splice(0).reverse()) await end()
})

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  open.push(
    () => server.closeAllConnections(),
    () => new Promise((resolve) => server.close(resolve)),
  )
  await new Promise((resolve) => server.once('listening', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

/** @returns scenarios with their results: `✓ ping` */
async function conform(url: string, args: string[] = []): Promise<string[]> {
  const { stdout } = await execa(process.execPath, ['--import', ON_NODE_20, SUITE, 'server', '--url', url, ...args], {
    cwd: tmpdir(),
    reject: false,
  })
  return [...stdout.matchAll(/^([✓✗] [\w-]+): /gmu)].map(([, line = '']) => line)
}

/** The suite sends no token: this proxy adds one, and changes nothing else. */
function withToken(target: string, token: string): Server {
  return createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${token}` }
    const onward = send(new URL(incoming.url ?? '/', target), { method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    outgoing.on('close', () => onward.destroy())
    incoming.pipe(onward)
  })
}

test('the daemon passes the generic scenarios of the official MCP conformance suite', async () => {
  const { path, remove } = temporaryDir()
  open.push(remove)
  const daemon = await startKsd(path)
  open.push(() => daemon.end('SIGTERM'))
  const { ada } = await createTestTokens(path)
  const url = await listening(withToken(daemon.ready.url, ada))
  const lines = await conform(url)
  expect(lines.filter((line) => OURS.includes(line.slice(2)))).toEqual(
    expect.arrayContaining(OURS.map((name) => `✓ ${name}`)),
  )
}, 180_000)

test('MCP sessions and transport with the tools of the official conformance suite pass its scenarios about them', async () => {
  const sessions = new McpSessions({
    version: '0',
    dispatch: async () => new Response(null, { status: 500 }),
    createServer: createEverythingServer,
  })
  open.push(() => sessions.close())
  const handle = getRequestListener(async (request) => {
    const text = await request.text()
    const bare = new Request(request.url, { method: request.method, headers: request.headers, signal: request.signal })
    const body: unknown = text === '' ? undefined : JSON.parse(text)
    return sessions.handle(bare, body, { key: 'k', tenant: 'k', token: 't', mayWrite: true })
  })
  const url = await listening(createServer((incoming, outgoing) => void handle(incoming, outgoing)))
  const lines = await conform(url)
  // The daemon itself covers these two: it checks Host before the sessions do, and completion is part of its own
  // server.
  expect(lines.filter((line) => line.startsWith('✗'))).toEqual(['✗ completion-complete', '✗ dns-rebinding-protection'])
  expect(lines.length).toBe(30)
}, 180_000)
