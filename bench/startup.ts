/**
 * Start-up of the command line as a multiple of bare `node`, in elapsed time and in processor time: interleaved runs in the
 * same clean environment.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { resolveDataLayout } from '../src/local/layout.js'
import { createChatKey } from './lib/chat-key.js'
import {
  type BenchDaemon,
  KCHAT,
  KS,
  privateEnv,
  readEndedChildrenCpuMs,
  runKs,
  runProgram,
  startDaemon,
  temporaryFolder,
} from './lib/daemon.js'
import { percentile, report } from './lib/report.js'

const ROUNDS = Number(process.argv[2] ?? 25)
/** Bars of the command line, as multiples of bare node: elapsed time and processor time. */
const BARS: Record<string, { elapsed?: number; processor?: number }> = {
  'ks --version': { elapsed: 1.5 },
  'ks spaces': { elapsed: 2.2, processor: 3 },
  'ks query': { elapsed: 3, processor: 5 },
  'ks fs ls': {},
}
/** First words of `kchat send`, as a multiple of a bare `node` and a bare request by `curl`. */
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
  const commands: Record<string, { program: string; args: string[]; startPattern?: RegExp }> = {
    'node -e 0': { program: node, args: ['-e', '0'] },
    'ks --version': { program: node, args: [KS, '--version'] },
    'ks spaces': { program: node, args: [KS, 'spaces'] },
    'ks query': { program: node, args: [KS, 'query', QUESTION, '--space', 'shop'] },
    'ks fs ls': { program: node, args: [KS, 'fs', 'ls', '/knowledge/documents', '--space', 'shop'] },
    'curl, first words': { program: 'curl', args: curl, startPattern: /"event":"message"/ },
    'kchat send, first words': { program: node, args: [KCHAT, 'send', QUESTION], startPattern: /./ },
  }
  const names = Object.keys(commands)
  const times = new Map(names.map((name) => [name, [] as number[]]))
  const cpu = new Map(names.map((name) => [name, 0]))
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, { program, args, startPattern }] of Object.entries(commands)) {
      const before = readEndedChildrenCpuMs()
      const result = await runProgram(program, args, { ...env, KCHAT_API_KEY: key }, startPattern)
      if (result.code !== 0) throw new Error(`${name} exited with ${result.code}: ${result.stderr}`)
      // the first round warms the disk cache
      if (round === 0) continue
      times.get(name)?.push(startPattern === undefined ? result.ms : result.firstOutputMs)
      cpu.set(name, (cpu.get(name) ?? 0) + readEndedChildrenCpuMs() - before)
    }
  }
  const getMedianMs = (name: string) => percentile(times.get(name) ?? [], 0.5)
  const bareMs = getMedianMs('node -e 0')
  const getProcessorMs = (name: string) => (cpu.get(name) ?? Number.NaN) / ROUNDS
  const getCpuRatio = (name: string) => getProcessorMs(name) / getProcessorMs('node -e 0')
  const send = getMedianMs('kchat send, first words') / (bareMs + getMedianMs('curl, first words'))
  report('startup', [
    ...names.map((name) => ({ name: `${name} median`, value: getMedianMs(name), unit: 'ms' })),
    ...names.map((name) => ({ name: `${name} processor time`, value: getProcessorMs(name), unit: 'ms' })),
    ...Object.entries(BARS).flatMap(([name, { elapsed, processor }]) => [
      { name: `${name} / node`, value: getMedianMs(name) / bareMs, unit: 'x', ...createBar(elapsed) },
      { name: `${name} / node, processor time`, value: getCpuRatio(name), unit: 'x', ...createBar(processor) },
    ]),
    { name: 'kchat send / (node + curl)', value: send, unit: 'x', bar: { atMost: SEND_BAR } },
  ])
} finally {
  await daemon.stop()
  home.remove()
}

function createBar(atMost: number | undefined): { bar?: { atMost: number } } {
  return atMost === undefined ? {} : { bar: { atMost } }
}

/** Creates a chat application that answers from one document, and returns its key. */
async function prepareChat({ client }: BenchDaemon): Promise<string> {
  const notes = join(home.path, 'notes')
  mkdirSync(notes)
  writeFileSync(join(notes, 'shop.md'), '# Shop\n\nThe shop opens at nine in the morning.\n')
  const ingested = await runKs(dataDir, ['ingest', notes, '--space', 'shop', '--create', '--wait'])
  if (ingested.code !== 0) throw new Error(ingested.stderr)
  const { items } = await client.request('GET /knowledge-spaces', { query: {} })
  const knowledgeSpaceIds = items.filter(({ slug }) => slug === 'shop').map(({ id }) => id)
  return await createChatKey(client, { name: 'Bench', knowledgeSpaceIds })
}
