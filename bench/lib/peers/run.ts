import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readMemory, readProcessorMs, readSharedMemory } from '../process-memory.js'
import { removeFolder } from '../removed-folder.js'
import { percentile } from '../report.js'
import { measureRecall, type PeerEngine } from './engine.js'
import { fill, openEngine } from './open.js'
import { DIMENSION, makeWorkload, type Workload } from './workload.js'

/** `run.js ENGINE DOCUMENTS`: one engine's whole job in this process; figures as JSON on standard output. */

export interface PeerFigures {
  engine: string
  /** documents a second until everything is stored and found, and until no index work is left */
  searchableRate: number
  settledRate: number
  /** processor time of all processes until then, which neighbours on the machine change less than the rate */
  cpuSeconds: number
  /** memory over this process with the workload alone, all processes together: at rest after the queries, the same
   *  with pages that processes share counted once (PSS), and at the most */
  memoryMb: number
  sharedOnceMb: number
  peakMemoryMb: number
  p50: number
  p95: number
  p99: number
  vectorP50: number
  recall: number
}

const QUERIES = 400
const WARM_UP = 50
const RECALL_QUERIES = 200
const MEGABYTE = 1024 ** 2
const REST_MS = 500
/** Engines give memory back when nothing is asked for a while; a server idles more than it works. */
const IDLE_MS = 10_000

const [name = '', count = '20000'] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'bench-engine-'))

async function measureQueries(engine: PeerEngine, { documents, queries }: Workload) {
  const times: number[] = []
  for (const [index, query] of queries.entries()) {
    const startedAt = performance.now()
    const keys = await engine.searchHybrid(query)
    if (index >= WARM_UP) times.push(performance.now() - startedAt)
    if (keys.length === 0) throw new Error('a query found nothing')
  }
  const [p50 = 0, p95 = 0, p99 = 0] = [0.5, 0.95, 0.99].map((fraction) => percentile(times, fraction))
  const { recall, ms } = await measureRecall(engine, documents, queries.slice(0, RECALL_QUERIES))
  return { p50, p95, p99, vectorP50: percentile(ms, 0.5), recall }
}

async function run(): Promise<PeerFigures> {
  const workload = makeWorkload(Number(count), QUERIES)
  global.gc?.()
  await sleep(REST_MS)
  // Forgets the peak of making the workload.
  writeFileSync('/proc/self/clear_refs', '5')
  const before = readMemory(process.pid, 'VmRSS')
  const beforeShared = readSharedMemory(process.pid)
  const engine = await openEngine(name, folder, DIMENSION)
  const cpuMsBefore = readProcessorMs(process.pid)
  const startedAt = performance.now()
  await fill(engine, workload.documents)
  const searchable = performance.now() - startedAt
  await engine.waitUntilSettled()
  const settled = performance.now() - startedAt
  const cpuSeconds = (readProcessorMs(process.pid) - cpuMsBefore) / 1000
  const queried = await measureQueries(engine, workload)
  await sleep(IDLE_MS)
  global.gc?.()
  await sleep(REST_MS)
  const pids = [process.pid, engine.childPid() ?? []].flat()
  const sumOverProcesses = (getBytes: (pid: number) => number) => pids.reduce((bytes, pid) => bytes + getBytes(pid), 0)
  const computeGrowthMb = (field: 'VmRSS' | 'VmHWM') =>
    (sumOverProcesses((pid) => readMemory(pid, field)) - before) / MEGABYTE
  const figures = {
    engine: name,
    searchableRate: (workload.documents.length / searchable) * 1000,
    settledRate: (workload.documents.length / settled) * 1000,
    cpuSeconds,
    memoryMb: computeGrowthMb('VmRSS'),
    sharedOnceMb: (sumOverProcesses(readSharedMemory) - beforeShared) / MEGABYTE,
    peakMemoryMb: computeGrowthMb('VmHWM'),
    ...queried,
  }
  await engine.close()
  return figures
}

try {
  const figures = await run()
  process.stdout.write(`${JSON.stringify(figures)}\n`)
} finally {
  removeFolder(folder)
}
process.exit(0)
