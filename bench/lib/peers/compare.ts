import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { buildCleanEnv } from '../daemon.js'
import { installPeers } from './install.js'
import type { PeerFigures } from './run.js'

/** Engines in the order they run; the order turns by one each round, so that none always runs first. */
const ENGINES = ['ours', 'lancedb', 'lancedb-our-width', 'sqlite-vec'] as const
export type EngineName = (typeof ENGINES)[number]

const MAX_STDERR_CHARS = 2_000

/** Runs every engine in a process of its own and takes the median of each figure over the rounds. */
export async function compareEngines(documents: number, rounds: number): Promise<Record<EngineName, PeerFigures>> {
  installPeers()
  const runs = new Map<EngineName, PeerFigures[]>(ENGINES.map((engine) => [engine, []]))
  for (let round = 0; round < rounds; round++) {
    for (let index = 0; index < ENGINES.length; index++) {
      const engine = ENGINES[(index + round) % ENGINES.length]!
      process.stderr.write(`round ${round + 1} of ${rounds}: ${engine}\n`)
      runs.get(engine)?.push(await runEngine(engine, documents))
    }
  }
  const computeFigures = (engine: EngineName) => computeMedians(runs.get(engine) ?? [])
  return {
    ours: computeFigures('ours'),
    lancedb: computeFigures('lancedb'),
    'lancedb-our-width': computeFigures('lancedb-our-width'),
    'sqlite-vec': computeFigures('sqlite-vec'),
  }
}

async function runEngine(engine: EngineName, documents: number): Promise<PeerFigures> {
  const program = fileURLToPath(new URL('./run.js', import.meta.url))
  const child = execa(process.execPath, ['--expose-gc', program, engine, String(documents)], {
    env: buildCleanEnv(tmpdir()),
    extendEnv: false,
    stdin: 'ignore',
    buffer: { stderr: false },
    reject: false,
  })
  // Shown only after a failure: LanceDB warns at every query of a change to come.
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-MAX_STDERR_CHARS)
  })
  const { failed, shortMessage, stdout } = await child
  if (failed) throw new Error(`${engine}: ${shortMessage}: ${stderr}`)
  return JSON.parse(stdout.split('\n').at(-1) ?? '')
}

function computeMedians(runs: PeerFigures[]): PeerFigures {
  const [first] = runs
  if (first === undefined) throw new Error('no round was run')
  const computeMedian = (getFigure: (run: PeerFigures) => number) =>
    runs.map(getFigure).sort((a, b) => a - b)[Math.floor((runs.length - 1) / 2)]!
  return {
    engine: first.engine,
    searchableRate: computeMedian((run) => run.searchableRate),
    settledRate: computeMedian((run) => run.settledRate),
    cpuSeconds: computeMedian((run) => run.cpuSeconds),
    memoryMb: computeMedian((run) => run.memoryMb),
    sharedOnceMb: computeMedian((run) => run.sharedOnceMb),
    peakMemoryMb: computeMedian((run) => run.peakMemoryMb),
    p50: computeMedian((run) => run.p50),
    p95: computeMedian((run) => run.p95),
    p99: computeMedian((run) => run.p99),
    vectorP50: computeMedian((run) => run.vectorP50),
    recall: computeMedian((run) => run.recall),
  }
}
