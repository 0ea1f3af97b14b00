/**
 * What sessions of agents cost the daemon over time: fifty at once open, call tools, subscribe, and end, half of them
 * orderly, half without a word; then fifty that only listen; then sessions of `ks mcp` one after the other. Memory is read
 * after a collection, so that its slope is what is held, not what was not collected yet.
 *
 * `npm run bench:mcp-sessions -- MINUTES STDIO_SESSIONS`
 */
import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { readCliToken } from '../src/local/keys.js'
import { privateEnv, runKs, startDaemon, temporaryFolder } from './lib/daemon.js'
import { mcpStdio } from './lib/mcp-stdio.js'
import { memoryOf, processorMs } from './lib/process-memory.js'
import { percentile, report } from './lib/report.js'

const MINUTES = Number(process.argv[2] ?? 5)
const STDIO_SESSIONS = Number(process.argv[3] ?? 200)
const AT_ONCE = 50
const IDLE_MS = 60_000
const NOTICES = 8
/** a session is not told of the changes of one resource more often */
const BETWEEN_NOTICES_MS = 2500
const MIB = 2 ** 20
/** collects in the daemon when it is told to; a flag of its own would be another daemon */
const COLLECTS = `data:text/javascript,${encodeURIComponent(`
  import { setFlagsFromString } from 'node:v8'
  import { runInNewContext } from 'node:vm'
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  process.on('SIGUSR2', () => collect())
`)}`

const home = temporaryFolder('bench-mcp-sessions')
const dataDir = join(home.path, 'data')
const daemon = await startDaemon(dataDir, { NODE_OPTIONS: `--import ${COLLECTS}` })
const token = readCliToken(dataDir)

interface Sample {
  minutes: number
  sessions: number
  rss: number
  heap: number
  sockets: number
}

async function settled(started: number, sessions: number): Promise<Sample> {
  for (let n = 0; n < 2; n++) {
    process.kill(daemon.pid, 'SIGUSR2')
    await sleep(500)
  }
  const { memory } = await daemon.client.request('GET /daemon/status', {})
  return {
    minutes: (performance.now() - started) / 60_000,
    sessions,
    rss: memoryOf(daemon.pid, 'VmRSS') / MIB,
    heap: (memory?.heapUsed ?? 0) / MIB,
    sockets: socketsOf(daemon.pid),
  }
}

function socketsOf(pid: number): number {
  const dir = `/proc/${pid}/fd`
  return readdirSync(dir).filter((fd) => {
    try {
      return readlinkSync(join(dir, fd)).startsWith('socket:')
    } catch {
      return false // closed meanwhile
    }
  }).length
}

async function open(): Promise<{ client: Client; transport: StreamableHTTPClientTransport }> {
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', daemon.url), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  })
  const client = new Client({ name: 'bench', version: '1' })
  await client.connect(transport)
  return { client, transport }
}

const DOCUMENT = 'ks://shop/sources/uploads/notes/note-1.md'

/** @returns the id of a session that was left without a word */
async function session(isOrderly: boolean): Promise<string | undefined> {
  const { client, transport } = await open()
  await client.listTools()
  await client.subscribeResource({ uri: DOCUMENT })
  for (const [name, args] of [
    ['search', { query: 'when does the shop open' }],
    ['list', {}],
    ['read', { document: DOCUMENT }],
    ['grep', { pattern: 'nine' }],
  ] as const) {
    const { isError } = await client.callTool({ name, arguments: args })
    if (isError === true) throw new Error(`${name} failed`)
  }
  const id = transport.sessionId
  if (isOrderly) await transport.terminateSession()
  await client.close()
  return isOrderly ? undefined : id
}

async function isHeld(id: string): Promise<boolean> {
  const response = await fetch(new URL('/mcp', daemon.url), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-session-id': id,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  })
  await response.text()
  return response.ok
}

/** The slope of a line through points. */
function slope(points: readonly [number, number][]): number {
  const mean = (at: 0 | 1) => points.reduce((sum, point) => sum + point[at], 0) / points.length
  const [x, y] = [mean(0), mean(1)]
  const over = points.reduce((sum, [px, py]) => sum + (px - x) * (py - y), 0)
  return over / points.reduce((sum, [px]) => sum + (px - x) ** 2, 0)
}

async function churn(): Promise<{ samples: Sample[]; abandoned: string[] }> {
  const samples: Sample[] = []
  const abandoned: string[] = []
  const started = performance.now()
  let sessions = 0
  do {
    const ids = await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => session(n % 2 === 0)))
    sessions += AT_ONCE
    abandoned.push(...ids.flatMap((id) => id ?? []))
    if ((samples.at(-1)?.minutes ?? -1) + 0.25 > (performance.now() - started) / 60_000) continue
    const sample = await settled(started, sessions)
    samples.push(sample)
    const { minutes, rss, heap, sockets } = sample
    console.log(
      `${minutes.toFixed(1)} min, ${sessions} sessions: ${rss.toFixed(0)} MiB resident, ${heap.toFixed(1)} MiB heap, ${sockets} sockets`,
    )
  } while (performance.now() - started < MINUTES * 60_000)
  return { samples, abandoned }
}

async function listening(): Promise<{ idleCpu: number; bareCpu: number; notices: number[] }> {
  const spent = async () => {
    const before = processorMs(daemon.pid)
    await sleep(IDLE_MS)
    return (processorMs(daemon.pid) - before) * (60_000 / IDLE_MS)
  }
  const bareCpu = await spent()
  const all = await Promise.all(Array.from({ length: AT_ONCE }, open))
  for (const { client } of all) await client.subscribeResource({ uri: DOCUMENT })
  await sleep(5000)
  const idleCpu = await spent()
  const notices: number[] = []
  const [first] = all
  const uri = 'ks://shop/workspaces/bench/n.md'
  const write = (content: string) =>
    first?.client.callTool({ name: 'write', arguments: { path: '/workspaces/bench/n.md', content } })
  await write('0')
  await first?.client.subscribeResource({ uri })
  for (let n = 1; n <= NOTICES; n++) {
    await sleep(BETWEEN_NOTICES_MS)
    const told = new Promise<void>((resolve) =>
      first?.client.setNotificationHandler('notifications/resources/updated', () => resolve()),
    )
    await write(String(n))
    const written = performance.now()
    await told
    notices.push(performance.now() - written)
  }
  for (const { client, transport } of all) {
    await transport.terminateSession()
    await client.close()
  }
  return { idleCpu, bareCpu, notices }
}

/** One session over stdio, from its start to the end of its process. */
async function stdioSession(): Promise<void> {
  const session = await mcpStdio(privateEnv(dataDir))
  const answer = await session.ask('resources/subscribe', { uri: DOCUMENT })
  if (!answer.includes('"result"')) throw new Error(answer)
  await session.end()
}

/** Processes that were started for this data directory and are neither the daemon nor below it. */
function leftBehind(): number {
  const ofUs = readdirSync('/proc').filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`KS_DATA_DIR=${dataDir}\0`)
    } catch {
      return false // another user's, or gone
    }
  })
  const isDaemon = (pid: string) => {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(pid) === daemon.pid || status.includes(`\nPPid:\t${daemon.pid}\n`)
  }
  return ofUs.filter((pid) => !isDaemon(pid)).length
}

try {
  const notes = join(home.path, 'notes')
  mkdirSync(notes)
  for (let n = 0; n < 20; n++)
    writeFileSync(join(notes, `note-${n}.md`), `# Note ${n}\n\nThe shop ${n} opens at nine in the morning.\n`)
  const { code, stderr } = await runKs(dataDir, ['ingest', notes, '--space', 'shop', '--create', '--wait'])
  if (code !== 0) throw new Error(stderr)
  const unused = await settled(performance.now(), 0)
  const started = performance.now()
  await session(true)
  const used = await settled(started, 1)
  const { idleCpu, bareCpu, notices } = await listening()
  const { samples, abandoned } = await churn()
  // before they are asked for, by as many connections
  const after = await settled(started, 0)
  const held = (await Promise.all(abandoned.slice(-200).map(isHeld))).filter((one) => one).length
  for (let n = 0; n < STDIO_SESSIONS; n++) await stdioSession()
  // the first third fills the sessions that a caller may have
  const steady = samples.slice(Math.floor(samples.length / 3))
  const per100 = (field: 'rss' | 'heap') => slope(steady.map((one) => [one.sessions / 100, one[field]]))
  report('mcp-sessions', [
    { name: 'resident, nobody asked by MCP', value: unused.rss, unit: 'MiB' },
    { name: 'resident, one session over', value: used.rss, unit: 'MiB' },
    { name: 'sessions', value: samples.at(-1)?.sessions ?? 0, unit: '' },
    { name: 'resident at the end', value: samples.at(-1)?.rss ?? 0, unit: 'MiB' },
    { name: 'slope of resident memory', value: per100('rss'), unit: 'MiB / 100 sessions' },
    { name: 'slope of the heap', value: per100('heap'), unit: 'MiB / 100 sessions', bar: { atMost: 0.1 } },
    { name: 'left sessions that are held', value: held, unit: '', bar: { atMost: 100 } },
    {
      name: 'sockets at the end, more than at its start',
      value: after.sockets - unused.sockets,
      unit: '',
      bar: { atMost: 4 },
    },
    { name: 'processor time, nobody connected', value: bareCpu, unit: 'ms / min' },
    { name: `processor time, ${AT_ONCE} sessions that listen`, value: idleCpu, unit: 'ms / min' },
    { name: 'from a write to its notice, median', value: percentile(notices, 0.5), unit: 'ms' },
    {
      name: `processes left by ${STDIO_SESSIONS} sessions over stdio`,
      value: leftBehind(),
      unit: '',
      bar: { atMost: 0 },
    },
  ])
} finally {
  await daemon.stop()
  home.remove()
}
