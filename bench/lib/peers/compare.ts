import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { cleanEnv } from '../daemon.js'
import { installPeers } from './install.js'
import type { PeerFigures } from './run.js'

/** Engines in the order they run; the order turns by one each round, so that none always runs first. */
const ENGINES = ['ours', 'lancedb', 'lancedb-our-width', 'sqlite-vec'] as const
export type EngineName = (typeof ENGINES)[number]

const COMPLAINTS = 2_000

/** Runs every engine in a process of its own and takes the median of each figure over the rounds. */
export async function compareEngines(documents: number, rounds: number): Promise<Record<EngineName, PeerFigures>> {
  installPeers()
  const runs = new Map<EngineName, PeerFigures[]>(ENGINES.map((engine) => [engine, []]))
  for (let round = 0; round < rounds; round++) {
    for (let place = 0; place < ENGINES.length; place++) {
      const engine = ENGINES[(place + round) % ENGINES.length]!
      process.stderr.write(`round ${round + 1} of ${rounds}: ${engine}\n`)
      runs.get(engine)?.push(await runEngine(engine, documents))
    }
  }
  const of = (engine: EngineName) => medians(runs.get(engine) ?? [])
  return {
    ours: of('ours'),
    lancedb: of('lancedb'),
    'lancedb-our-width': of('lancedb-our-width'),
    'sqlite-vec': of('sqlite-vec'),
  }
}

async function runEngine(engine: EngineName, documents: number): Promise<PeerFigures> {
  const program = fileURLToPath(new URL('./run.js', import.meta.url))
  const child = execa(process.execPath, ['--expose-gc', program, engine, String(documents)], {
    env: cleanEnv(tmpdir()),
    extendEnv: false,
    stdin: 'ignore',
    buffer: { stderr: false },
    reject: false,
  })
  // Shown only after a failure: LanceDB warns at every query of a change to come.
  let complaints = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints = (complaints + text).slice(-COMPLAINTS)
  })
  const { failed, shortMessage, stdout } = await child
  if (failed) throw new Error(`${engine}: ${shortMessage}: ${complaints}`)
  return JSON.parse(stdout.split('\n').at(-1) ?? '')
}

function medians(runs: PeerFigures[]): PeerFigures {
  const [first] = runs
  if (first === undefined) throw new Error('no round was run')
  const middle = (read: (run: PeerFigures) => number) =>
    runs.map(read).sort((a, b) => a - b)[Math.floor((runs.length - 1) / 2)]!
  return {
    engine: first.engine,
    searchableRate: middle((run) => run.searchableRate),
    settledRate: middle((run) => run.settledRate),
    cpuSeconds: middle((run) => run.cpuSeconds),
    memoryMb: middle((run) => run.memoryMb),
    sharedOnceMb: middle((run) => run.sharedOnceMb),
    peakMemoryMb: middle((run) => run.peakMemoryMb),
    p50: middle((run) => run.p50),
    p95: middle((run) => run.p95),
    p99: middle((run) => run.p99),
    vectorP50: middle((run) => run.vectorP50),
    recall: middle((run) => run.recall),
  }
}
