/**
 * Runs the bundle of `ks` against a server that answers a few requests, and stores the code that V8 compiled next to each
 * file of the bundle; `bin/bundle.js` passes it to V8 at the next start. The code contains only functions that ran, so
 * typical commands run here.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ROOT } from './build.js'

const BUNDLE = join(ROOT, 'dist', 'bundle', 'ks')
const COMPLETERS = ['ks', 'kchat'].map((program) => join(ROOT, 'dist', 'bundle', `complete-${program}`))
/** Argument of the process that records. Its flags of Node are those of a user: V8 rejects code for other flags. */
const RECORDING = '--record'
const INSTANCE = 'code-cache'
const ID = '018f0000-0000-7000-8000-000000000001'
/** An entry of any list: a space, a folder, a passage. */
const ITEM = { id: ID, slug: 'example', name: 'Example', path: '/knowledge/documents', kind: 'folder' }
const RUNS = [
  ['spaces'],
  ['spaces', '--json'],
  ['query', 'When does the shop open?', '--space', 'example'],
  ['fs', 'ls', '/knowledge', '--space', 'example'],
  ['search', 'shop', '--space', 'example'],
  // reads the messages of `mcpSession`
  ['mcp', '--space', 'example'],
]
const CLIENT = { name: 'code-cache', version: '1' }
const SESSION_MS = 500
/** Completion requests of shells. */
const COMPLETIONS = [
  ['zsh', 'ex', 'docs', '--space'],
  ['bash', 'a', 'ks docs show --space example a'],
  ['zsh', '', 'conversations', 'rename'],
]
const MCP_MESSAGES = [
  { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: CLIENT } },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/list', params: {} },
  { id: 3, method: 'tools/call', params: { name: 'search', arguments: { query: 'shop' } } },
]

if (process.argv[2] === RECORDING) await record(process.argv[3] ?? '')
else recordInChild()

/** Records in a separate process, without the caller's settings and without output. */
function recordInChild() {
  const folder = mkdtempSync(join(tmpdir(), 'ks-code-cache-'))
  try {
    const env = { PATH: process.env.PATH, HOME: folder, KS_AUTOSTART: '0', LANG: 'C.UTF-8' }
    for (const name of ['DATA', 'CONFIG', 'STATE', 'CACHE']) env[`KS_${name}_DIR`] = join(folder, name.toLowerCase())
    const args = [fileURLToPath(import.meta.url), RECORDING, join(folder, 'data')]
    const { status, stderr } = spawnSync(process.execPath, args, {
      env,
      cwd: folder,
      timeout: 60_000,
      encoding: 'utf8',
    })
    if (status !== 0) process.stderr.write(`the code of ks was not stored, so it starts more slowly: ${stderr}\n`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The messages of an MCP client, which waits for the responses. */
async function* mcpSession() {
  for (const message of MCP_MESSAGES) yield Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  await sleep(SESSION_MS)
}

async function record(dataDir) {
  const scripts = new Map()
  const { loadBundle } = createRequire(import.meta.url)('../bin/bundle.js')
  const bundle = loadBundle(BUNDLE, (filename, script) => scripts.set(filename, script))
  if (bundle === undefined) return
  const server = await startServer(dataDir)
  Object.defineProperty(process, 'stdin', { value: Readable.from(mcpSession()) })
  for (const argv of RUNS) await bundle.main(argv, join(ROOT, '/'))
  for (const { load } of Object.values(bundle.commands)) await load()
  for (const folder of COMPLETERS) {
    const { complete } = loadBundle(folder, (filename, script) => scripts.set(filename, script))
    for (const argv of COMPLETIONS) await complete(argv)
  }
  server.closeAllConnections()
  server.close()
  process.exitCode = 0
  for (const [filename, script] of scripts) {
    writeFileSync(`${filename}.cache.new`, script.createCachedData())
    renameSync(`${filename}.cache.new`, `${filename}.cache`)
  }
}

/** Starts a server that answers these commands like a local daemon with one space. */
async function startServer(dataDir) {
  const socket = join(dataDir, 'run', 'sock')
  mkdirSync(join(dataDir, 'run'), { recursive: true })
  const server = createServer((request, response) => {
    request.resume()
    response.setHeader('x-ks-instance', INSTANCE)
    if (request.method === 'POST' && request.url === '/queries') {
      response.setHeader('content-type', 'text/event-stream')
      response.write('event: answer.delta\ndata: {"delta":"At nine."}\n\n')
      response.end('event: answer.done\ndata: {"finishReason":"stop","metadata":{"citations":[]}}\n\n')
      return
    }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ items: [ITEM], degradedReasons: [] }))
  })
  await new Promise((resolve) => server.listen(socket, resolve))
  const daemon = { instance: INSTANCE, pid: process.pid, url: 'http://127.0.0.1:9', socket, version: '0.0.0' }
  const text = JSON.stringify({ ...daemon, startedAt: '2000-01-01T00:00:00Z', mode: 'auto', dataDir })
  writeFileSync(join(dataDir, 'daemon.json'), text)
  writeFileSync(join(dataDir, 'cli.token'), 'none')
  return server
}
