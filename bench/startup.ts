/**
 * Start-up of the command line as a multiple of bare `node` in the same minutes: runs are interleaved, and both sides
 * have the same clean environment. Elapsed time and processor time, each by itself.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dataLayout } from '../src/local/layout.js'
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
/** Bars of the command line: what a person takes for immediate (docs/testing.md). */
const VERSION_BAR = 2.5
const SPACES_BAR = 4
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
    dataLayout(dataDir).socket,
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
    { name: 'ks --version / node', value: median('ks --version') / bare, unit: 'x', bar: { atMost: VERSION_BAR } },
    { name: 'ks spaces / node', value: median('ks spaces') / bare, unit: 'x', bar: { atMost: SPACES_BAR } },
    { name: 'ks --version / node, processor time', value: cpuRatio('ks --version'), unit: 'x' },
    { name: 'ks spaces / node, processor time', value: cpuRatio('ks spaces'), unit: 'x' },
    { name: 'kchat send / (node + curl)', value: send, unit: 'x', bar: { atMost: SEND_BAR } },
  ])
} finally {
  await daemon.stop()
  home.remove()
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
  const app = await client.request('POST /chat-apps', { body: { name: 'Bench', knowledgeSpaceIds } })
  const { key: made } = await client.request('POST /chat-apps/{appId}/keys', { path: { appId: app.id } })
  const key = made ?? ''
  return key
}
