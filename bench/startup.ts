/**
 * Start-up of the command line as a multiple of bare `node` in the same minutes: runs are interleaved, and both sides
 * have the same clean environment. Elapsed time and processor time, each by itself.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { resolveDataLayout } from '../src/local/layout.js'
import { chatKey } from './lib/chat-key.js'
import {
  type BenchDaemon,
  endedChildrenCpuMs,
  KCHAT,
  KS,
  privateEnv,
  run,
  runKs,
  startDaemon,
  temporaryFolder,
} from './lib/daemon.js'
import { percentile, report } from './lib/report.js'

const ROUNDS = Number(process.argv[2] ?? 25)
/** Bars of the command line, as multiples of bare node: elapsed time and processor time. */
const BARS: Record<string, { wall?: number; processor?: number }> = {
  'ks --version': { wall: 1.5 },
  'ks spaces': { wall: 2.2, processor: 3 },
  'ks query': { wall: 3, processor: 5 },
  'ks fs ls': {},
}
/** `kchat send` begins its answer at most so many times later than a bare request by curl does after a bare node. */
const SEND_BAR = 1.5
const QUESTION = 'When does the shop open?'

const home = temporaryFolder('bench-startup')
const dataDir = join(home.path, 'data')
const env = privateEnv(dataDir)
const daemon = await startDaemon(dataDir)
try {
  const key = await prepareChat(daemon)
  const request = JSON.stringify({ query: QUESTION, user: 'bench', inputs: {}, response_mode: 'streaming' })
  const curl = [
    '-sN',
    '--unix-socket',
    resolveDataLayout(dataDir).socket,
    '-H',
    `authorization: Bearer ${key}`,
    '-H',
    'content-type: application/json',
    '-d',
    request,
    'http://localhost/v1/chat-messages',
  ]
  const node = process.execPath
  const commands: Record<string, { program: string; args: string[]; begins?: RegExp }> = {
    'node -e 0': { program: node, args: ['-e', '0'] },
    'ks --version': { program: node, args: [KS, '--version'] },
    'ks spaces': { program: node, args: [KS, 'spaces'] },
    'ks query': { program: node, args: [KS, 'query', QUESTION, '--space', 'shop'] },
    'ks fs ls': { program: node, args: [KS, 'fs', 'ls', '/knowledge/documents', '--space', 'shop'] },
    'curl, first words': { program: 'curl', args: curl, begins: /"event":"message"/ },
    'kchat send, first words': { program: node, args: [KCHAT, 'send', QUESTION], begins: /./ },
  }
  const names = Object.keys(commands)
  const times = new Map(names.map((name) => [name, [] as number[]]))
  const cpu = new Map(names.map((name) => [name, 0]))
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, { program, args, begins }] of Object.entries(commands)) {
      const before = endedChildrenCpuMs()
      const result = await run(program, args, { ...env, KCHAT_API_KEY: key }, begins)
      if (result.code !== 0) throw new Error(`${name} exited with ${result.code}: ${result.stderr}`)
      // the first round warms the disk cache
      if (round === 0) continue
      times.get(name)?.push(begins === undefined ? result.ms : result.beganMs)
      cpu.set(name, (cpu.get(name) ?? 0) + endedChildrenCpuMs() - before)
    }
  }
  const median = (name: string) => percentile(times.get(name) ?? [], 0.5)
  const bare = median('node -e 0')
  const processor = (name: string) => (cpu.get(name) ?? Number.NaN) / ROUNDS
  const cpuRatio = (name: string) => processor(name) / processor('node -e 0')
  const send = median('kchat send, first words') / (bare + median('curl, first words'))
  report('startup', [
    ...names.map((name) => ({ name: `${name} median`, value: median(name), unit: 'ms' })),
    ...names.map((name) => ({ name: `${name} processor time`, value: processor(name), unit: 'ms' })),
    ...Object.entries(BARS).flatMap(([name, { wall, processor: most }]) => [
      { name: `${name} / node`, value: median(name) / bare, unit: 'x', ...bar(wall) },
      { name: `${name} / node, processor time`, value: cpuRatio(name), unit: 'x', ...bar(most) },
    ]),
    { name: 'kchat send / (node + curl)', value: send, unit: 'x', bar: { atMost: SEND_BAR } },
  ])
} finally {
  await daemon.stop()
  home.remove()
}

function bar(atMost: number | undefined): { bar?: { atMost: number } } {
  return atMost === undefined ? {} : { bar: { atMost } }
}

/** An application that answers from one document. @returns a key of it */
async function prepareChat({ client }: BenchDaemon): Promise<string> {
  const notes = join(home.path, 'notes')
  mkdirSync(notes)
  writeFileSync(join(notes, 'shop.md'), '# Shop\n\nThe shop opens at nine in the morning.\n')
  const ingested = await runKs(dataDir, ['ingest', notes, '--space', 'shop', '--create', '--wait'])
  if (ingested.code !== 0) throw new Error(ingested.stderr)
  const { items } = await client.request('GET /knowledge-spaces', { query: {} })
  const knowledgeSpaceIds = items.filter(({ slug }) => slug === 'shop').map(({ id }) => id)
  return await chatKey(client, { name: 'Bench', knowledgeSpaceIds })
}
