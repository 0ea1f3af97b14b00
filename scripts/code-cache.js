/**
 * Runs the bundle of `ks` against a service that answers a few requests, and keeps beside each of its files what V8
 * compiled of it: `bin/bundle.js` gives that to V8 again. Functions that ran are in it, so commands that stand for the
 * others run here.
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
/** Scripts compiled by a process with other flags than those of a user would be refused. */
const RECORDING = '--record'
const INSTANCE = 'code-cache'
const ID = '018f0000-0000-7000-8000-000000000001'
const RUNS = [
  ['spaces'],
  ['spaces', '--json'],
  ['query', 'When does the shop open?', '--space', 'example'],
  ['fs', 'ls', '/knowledge', '--space', 'example'],
  ['search', 'shop', '--space', 'example'],
  // reads what `session` gives
  ['mcp', '--space', 'example'],
]
const CLIENT = { name: 'code-cache', version: '1' }
const SESSION_MS = 500
/** what shells ask for */
const TABS = [
  ['zsh', 'ex', 'docs', '--space'],
  ['bash', 'a', 'ks docs show --space example a'],
  ['zsh', '', 'conversations', 'rename'],
]
const SESSION = [
  { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: CLIENT } },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/list', params: {} },
  { id: 3, method: 'tools/call', params: { name: 'search', arguments: { query: 'shop' } } },
]

if (process.argv[2] === RECORDING) await record(process.argv[3] ?? '')
else recordApart()

/** In a process of its own, with nothing of the caller's settings, and with nothing to print to. */
function recordApart() {
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
    if (status !== 0) process.stderr.write(`ks starts a little slower, its code was not kept: ${stderr}\n`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The messages of a client, which stays until they are answered. */
async function* session() {
  for (const message of SESSION) yield Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  await sleep(SESSION_MS)
}

async function record(dataDir) {
  const scripts = new Map()
  const { loadBundle } = createRequire(import.meta.url)('../bin/bundle.js')
  const bundle = loadBundle(BUNDLE, (filename, script) => scripts.set(filename, script))
  if (bundle === undefined) return
  const server = await service(dataDir)
  Object.defineProperty(process, 'stdin', { value: Readable.from(session()) })
  for (const argv of RUNS) await bundle.main(argv, join(ROOT, '/'))
  for (const { load } of Object.values(bundle.commands)) await load()
  for (const folder of COMPLETERS) {
    const { complete } = loadBundle(folder, (filename, script) => scripts.set(filename, script))
    for (const argv of TABS) await complete(argv)
  }
  server.closeAllConnections()
  server.close()
  process.exitCode = 0
  for (const [filename, script] of scripts) {
    writeFileSync(`${filename}.cache.new`, script.createCachedData())
    renameSync(`${filename}.cache.new`, `${filename}.cache`)
  }
}

/** Answers as a local daemon with one space does, as far as those commands look at it. */
async function service(dataDir) {
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
    response.end(JSON.stringify({ items: [item()], degradedReasons: [] }))
  })
  await new Promise((resolve) => server.listen(socket, resolve))
  const daemon = { instance: INSTANCE, pid: process.pid, url: 'http://127.0.0.1:9', socket, version: '0.0.0' }
  const text = JSON.stringify({ ...daemon, startedAt: '2000-01-01T00:00:00Z', mode: 'auto', dataDir })
  writeFileSync(join(dataDir, 'daemon.json'), text)
  writeFileSync(join(dataDir, 'cli.token'), 'none')
  return server
}

function item() {
  return { id: ID, slug: 'example', name: 'Example', path: '/knowledge/documents', kind: 'folder' }
}
