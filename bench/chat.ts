/**
 * Many chat streams at once over a model that takes its time: what is refused, when the first ping comes, what memory the
 * daemon takes from round to round, and how soon a stop reaches the model.
 */
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { cpus, loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ChatStream, chatKey, chatStream } from './lib/chat-stream.js'
import { startDaemon, temporaryFolder } from './lib/daemon.js'
import { percentile, report } from './lib/report.js'
import { startSlowModel } from './lib/slow-model.js'

const STREAMS = Number(process.argv[2] ?? 200)
const ROUNDS = Number(process.argv[3] ?? 6)
const WARM = 20
const PING_BAR_MS = 200
/** Memory goes up and down with the collector, so the highest of the last rounds stands beside that of the first. */
const GROWTH_BAR = 1.2
const STOPS = 20
const STOP_BAR_MS = 100
const MIB = 1024

const home = temporaryFolder('bench-chat')
const model = await startSlowModel({ firstTokenMs: 1500, tokens: 40, tokenMs: 50 })
const provider = { pluginId: 'openai-compatible', provider: 'slow', baseUrl: model.url, maxConcurrency: 256 }
const daemon = await startDaemon(home.path, {
  KS_DAEMON_PROVIDERS: JSON.stringify([provider]),
  KS_DAEMON_DEFAULT_GENERATOR: 'openai-compatible/slow/slow',
  // a small heap is collected often, so that memory shows what is held and not what was let go
  NODE_OPTIONS: '--max-old-space-size=96',
})
try {
  const key = await chatKey(daemon.client, { name: 'Bench' })
  const agent = new Agent({ keepAlive: true, maxSockets: STREAMS })
  const to = { url: daemon.url, key, agent, words: model.tokens }
  const streams: ChatStream[] = []
  const memory: number[] = []
  const before = cpuSeconds(daemon.pid)
  await Promise.all(Array.from({ length: WARM }, (_, n) => chatStream(to, `warm-${n}`)))
  for (let round = 0; round < ROUNDS; round++) {
    const all = Array.from({ length: STREAMS }, (_, n) => chatStream(to, `${round}-${n}`))
    streams.push(...(await Promise.all(all)))
    await sleep(500)
    memory.push(residentKib(daemon.pid))
  }
  const cpu = cpuSeconds(daemon.pid) - before
  const stops: number[] = []
  for (let n = 0; n < STOPS; n++) stops.push(await stopped(key, agent, `stop-${n}`))
  agent.destroy()
  const half = Math.ceil(memory.length / 2)
  const pings = streams.map(({ pingMs }) => pingMs)
  report('chat', [
    {
      name: 'streams at once',
      value: STREAMS,
      unit: '',
      note: `load of the machine ${loadavg()[0]?.toFixed(1)} on ${cpus().length} processors`,
    },
    {
      name: 'answers of 5xx',
      value: streams.filter(({ status }) => status >= 500).length,
      unit: '',
      bar: { atMost: 0 },
    },
    {
      name: 'other refusals',
      value: streams.filter(({ status }) => status !== 200 && status < 500).length,
      unit: '',
      bar: { atMost: 0 },
    },
    {
      name: 'streams without their whole answer',
      value: streams.filter(({ whole }) => !whole).length,
      unit: '',
      bar: { atMost: 0 },
    },
    { name: 'first ping, median', value: percentile(pings, 0.5), unit: 'ms' },
    { name: 'first ping, p95', value: percentile(pings, 0.95), unit: 'ms', bar: { atMost: PING_BAR_MS } },
    {
      name: 'stop until the model is let go, p95',
      value: percentile(stops, 0.95),
      unit: 'ms',
      bar: { atMost: STOP_BAR_MS },
    },
    { name: 'processor time of the daemon for a stream', value: (cpu * 1000) / streams.length, unit: 'ms' },
    ...memory.map((kib, round) => ({ name: `memory after round ${round + 1}`, value: kib / MIB, unit: 'MiB' })),
    {
      name: 'memory, highest of the last half / of the first half',
      value: Math.max(...memory.slice(-half)) / Math.max(...memory.slice(0, half)),
      unit: 'x',
      bar: { atMost: GROWTH_BAR },
    },
  ])
} finally {
  await daemon.stop()
  await model.close()
  home.remove()
}

/** Stops an answer at its first word. @returns milliseconds from sending the stop until the model's connection closes */
function stopped(key: string, agent: Agent, user: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const post = (path: string) => request(`${daemon.url}/v1/chat-messages${path}`, { method: 'POST', agent, headers })
  return new Promise((resolve, reject) => {
    let text = ''
    let sent = false
    const stream = post('').on('error', reject)
    stream.on('response', (response) => {
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece
        const task = /"task_id":"([^"]+)"/.exec(text)?.[1]
        if (sent || task === undefined || !text.includes('"event":"message",')) return
        sent = true
        const started = performance.now()
        model.givenUp().then((time) => resolve(time - started), reject)
        post(`/${task}/stop`)
          .on('error', reject)
          .on('response', (answer) => answer.resume())
          .end(JSON.stringify({ user }))
      })
    })
    stream.end(JSON.stringify({ query: 'stop me', user, auto_generate_name: false }))
  })
}

/** Processor time of a process so far; the kernel counts in hundredths of a second. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}

function residentKib(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN)
}
