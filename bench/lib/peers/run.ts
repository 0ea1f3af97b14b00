import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '../report.js'
import { type PeerEngine, TOP } from './engine.js'
import { openLance } from './lancedb.js'
import { openOurs } from './ours.js'
import { openSqliteVec } from './sqlite-vec.js'
import { BATCH, makeWorkload, nearest, type Workload } from './workload.js'

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
/** Units of processor time in /proc (USER_HZ, fixed by the kernel's interface). */
const TICKS_PER_SECOND = 100
const REST_MS = 500
/** Engines give memory back when nothing is asked for a while; a server idles more than it works. */
const IDLE_MS = 10_000

const [name = '', count = '20000'] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'bench-engine-'))

async function openEngine(): Promise<PeerEngine> {
  switch (name) {
    case 'ours':
      return openOurs(folder)
    case 'lancedb':
      return openLance(folder, 'default')
    case 'lancedb-our-width':
      return openLance(folder, 'ours')
    case 'sqlite-vec':
      return openSqliteVec(folder)
    default:
      throw new Error(`there is no engine ${name}`)
  }
}

function memory(pid: number | undefined, field: 'VmRSS' | 'VmHWM'): number {
  if (pid === undefined) return 0
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return (Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) * 1024) / MEGABYTE
}

function processorSeconds(pid: number | undefined): number {
  if (pid === undefined) return 0
  // The fields after the name in brackets: user and system time are the 12th and 13th of them.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/** Memory of a process with each shared page divided by the number of processes that share it. */
function proportional(pid: number | undefined): number {
  if (pid === undefined) return 0
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  return (Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) * 1024) / MEGABYTE
}

async function measureQueries(engine: PeerEngine, { documents, queries }: Workload) {
  const times: number[] = []
  for (const [place, query] of queries.entries()) {
    const began = performance.now()
    const keys = await engine.hybrid(query)
    if (place >= WARM_UP) times.push(performance.now() - began)
    if (keys.length === 0) throw new Error('a query found nothing')
  }
  const vectorTimes: number[] = []
  let found = 0
  for (const { vector } of queries.slice(0, RECALL_QUERIES)) {
    const began = performance.now()
    const keys = await engine.nearest(vector)
    vectorTimes.push(performance.now() - began)
    const expected = new Set(nearest(documents, vector, TOP))
    found += keys.slice(0, TOP).filter((key) => expected.has(key)).length
  }
  const [p50 = 0, p95 = 0, p99 = 0] = [0.5, 0.95, 0.99].map((share) => percentile(times, share))
  const recall = found / (Math.min(RECALL_QUERIES, queries.length) * TOP)
  return { p50, p95, p99, vectorP50: percentile(vectorTimes, 0.5), recall }
}

async function run(): Promise<PeerFigures> {
  const workload = makeWorkload(Number(count), QUERIES)
  global.gc?.()
  await sleep(REST_MS)
  // Forgets the peak of making the workload.
  writeFileSync('/proc/self/clear_refs', '5')
  const before = memory(process.pid, 'VmRSS')
  const beforeShared = proportional(process.pid)
  const engine = await openEngine()
  const busyBefore = processorSeconds(process.pid)
  const began = performance.now()
  for (let at = 0; at < workload.documents.length; at += BATCH) {
    await engine.add(workload.documents.slice(at, at + BATCH))
  }
  await engine.searchable()
  const searchable = performance.now() - began
  await engine.settled()
  const settled = performance.now() - began
  const cpuSeconds = processorSeconds(process.pid) + processorSeconds(engine.childPid()) - busyBefore
  const queried = await measureQueries(engine, workload)
  await sleep(IDLE_MS)
  global.gc?.()
  await sleep(REST_MS)
  const total = (field: 'VmRSS' | 'VmHWM') => memory(process.pid, field) + memory(engine.childPid(), field) - before
  const figures = {
    engine: name,
    searchableRate: (workload.documents.length / searchable) * 1000,
    settledRate: (workload.documents.length / settled) * 1000,
    cpuSeconds,
    memoryMb: total('VmRSS'),
    sharedOnceMb: proportional(process.pid) + proportional(engine.childPid()) - beforeShared,
    peakMemoryMb: total('VmHWM'),
    ...queried,
  }
  await engine.close()
  return figures
}

try {
  const figures = await run()
  process.stdout.write(`${JSON.stringify(figures)}\n`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exit(0)
