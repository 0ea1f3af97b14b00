/**
 * What a daemon's life costs beside another checkout of this project: `node scripts/bench.js before-life CHECKOUT [NOTES]
 * [ROUNDS]`. Starts, an ingest of notes into a new data directory, and 200 chat streams over a model that takes its time;
 * each of both daemons in turns, elapsed and processor time.
 */
import { Agent } from 'node:http'
import { join } from 'node:path'
import { type ChatService, chatKey, chatStream } from './lib/chat-stream.js'
import { makeNotes } from './lib/corpus.js'
import { type BenchDaemon, endedChildrenCpuMs, KSD, startDaemon, temporaryFolder } from './lib/daemon.js'
import { processorMs } from './lib/process-memory.js'
import { type Figure, report } from './lib/report.js'
import { untilSettled } from './lib/settled.js'
import { startSlowModel } from './lib/slow-model.js'
import { acrossRounds } from './lib/turns.js'
import { fillSpace } from './lib/upload.js'

const [, , other, count = '20000', turns = '3'] = process.argv
if (other === undefined) throw new Error('usage: node scripts/bench.js before-life CHECKOUT [NOTES] [ROUNDS]')
const PROGRAMS = { before: join(other, 'bin', 'ksd.js'), now: KSD }
const NAMES = ['before', 'now'] as const
type Name = (typeof NAMES)[number]
const ROUNDS = Number(turns)
const STARTS = 20
const STREAMS = 200
const SEED = 20_000
const NOTE_CHARACTERS = 1024
/** what several processes on one database may cost those who run one (issue: more than one machine) */
const BAR = { atMost: 1.05 }

interface Cost {
  ms: number
  cpuMs: number
}

const home = temporaryFolder('bench-before-life')
const model = await startSlowModel({ firstTokenMs: 500, tokens: 40, tokenMs: 25 })
const provider = { pluginId: 'openai-compatible', provider: 'slow', baseUrl: model.url, maxConcurrency: 256 }
const settings = {
  KS_DAEMON_PROVIDERS: JSON.stringify([provider]),
  KS_DAEMON_DEFAULT_GENERATOR: 'openai-compatible/slow/slow',
}
const notes = makeNotes(Number(count), SEED, NOTE_CHARACTERS)
const services: Partial<Record<Name, ChatService>> = {}
const daemons: Partial<Record<Name, BenchDaemon>> = {}

try {
  const starts = await costs('a start', STARTS, async (name) => {
    const before = endedChildrenCpuMs()
    const began = performance.now()
    const daemon = await startDaemon(join(home.path, `start-${name}`), {}, PROGRAMS[name])
    const ms = performance.now() - began
    await daemon.stop()
    return { ms, cpuMs: endedChildrenCpuMs() - before }
  })
  const ingests = await costs('ingest', ROUNDS, async (name, round) => {
    // of its whole life: a process that reads documents may end long before
    const before = endedChildrenCpuMs()
    const daemon = await startDaemon(join(home.path, `ingest-${name}-${round}`), {}, PROGRAMS[name])
    const began = performance.now()
    await fillSpace(daemon.client, 'notes', notes)
    const ms = performance.now() - began
    await untilSettled(daemon.client)
    await daemon.stop()
    return { ms, cpuMs: endedChildrenCpuMs() - before }
  })
  for (const name of NAMES) {
    const daemon = await startDaemon(join(home.path, `chat-${name}`), settings, PROGRAMS[name])
    daemons[name] = daemon
    const key = await chatKey(daemon.client, { name: 'Bench' })
    const agent = new Agent({ keepAlive: true, maxSockets: STREAMS })
    services[name] = { url: daemon.url, key, agent, words: model.tokens }
  }
  const chats = await costs(`${STREAMS} chat streams`, 2 * ROUNDS, async (name, round) => {
    const before = processorMs(daemons[name]!.pid)
    const began = performance.now()
    const all = Array.from({ length: STREAMS }, (_, n) => chatStream(services[name]!, `${round}-${n}`))
    const broken = (await Promise.all(all)).filter(({ whole }) => !whole).length
    if (broken > 0) throw new Error(`${broken} streams of ${name} came without their whole answer`)
    return { ms: performance.now() - began, cpuMs: processorMs(daemons[name]!.pid) - before }
  })
  report('before-life', [...starts, ...ingests, ...chats])
} finally {
  for (const name of NAMES) {
    services[name]?.agent.destroy()
    await daemons[name]?.stop()
  }
  await model.close()
  home.remove()
}

/** Rounds of both, after one that warms up where they are many; who goes first turns. */
async function costs(
  what: string,
  rounds: number,
  round: (name: Name, place: number) => Promise<Cost>,
): Promise<Figure[]> {
  const ratios: Record<keyof Cost, number[]> = { ms: [], cpuMs: [] }
  const first: number[] = []
  for (let place = rounds > ROUNDS ? -1 : 0; place < rounds; place++) {
    const seen: Partial<Record<Name, Cost>> = {}
    for (const name of place % 2 === 0 ? NAMES : NAMES.toReversed()) seen[name] = await round(name, place)
    if (place < 0) continue
    for (const unit of ['ms', 'cpuMs'] as const) ratios[unit].push(seen.now![unit] / seen.before![unit])
    first.push(seen.now!.ms)
  }
  return [
    { name: `${what}, now`, ...acrossRounds(first), unit: 'ms' },
    { name: `${what}, now / before`, ...acrossRounds(ratios.ms), unit: 'x', bar: BAR },
    { name: `${what}, now / before, processor time`, ...acrossRounds(ratios.cpuMs), unit: 'x', bar: BAR },
  ]
}
