/**
 * What a question costs beside another checkout of this project: `npm run bench:before -- CHECKOUT [PASSAGES]`. Both
 * daemons hold the same passages; each question is asked of both, in turns which comes first, so that whatever else the
 * machine does slows both. The other checkout has to be built.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ask } from './lib/ask.js'
import { type BenchDaemon, KSD, startDaemon, temporaryFolder } from './lib/daemon.js'
import { percentile, report } from './lib/report.js'
import { untilSettled } from './lib/settled.js'
import { fillSpace } from './lib/upload.js'
import { numbers, prose, queryFrom, zipfWord } from './lib/words.js'

const [, , other, passages] = process.argv
if (other === undefined) throw new Error('usage: npm run bench:before -- CHECKOUT [PASSAGES]')
const NODES = Number(passages ?? 100_000)
const SECTIONS_A_FILE = 20
const SECTION_CHARACTERS = 600
const WARM_UP = 100
const QUERIES = 1000
const SEED = 100_000
/** Units of processor time in /proc (USER_HZ, fixed by the kernel's interface). */
const TICKS_PER_SECOND = 100

interface Side {
  daemon: BenchDaemon
  spaceId: string
  ms: number[]
  cpuMs: number
}

const random = numbers(SEED)
const sections = Array.from({ length: NODES }, () => prose(random, SECTION_CHARACTERS))
const queries = Array.from({ length: QUERIES }, () => queryFrom(random, sections[Math.floor(random() * NODES)]!))
const documents = files()
const home = temporaryFolder('bench-before')
const before = await side('before', join(other, 'bin', 'ksd.js'))
const now = await side('now', KSD)
try {
  for (const query of queries.slice(0, WARM_UP)) await askBoth(query, true)
  for (const one of [before, now]) {
    one.ms = []
    one.cpuMs = cpuMs(one.daemon.pid)
  }
  for (const [turn, query] of queries.entries()) await askBoth(query, turn % 2 === 0)
  for (const one of [before, now]) one.cpuMs = cpuMs(one.daemon.pid) - one.cpuMs
  const ratios = now.ms.map((ms, place) => ms / before.ms[place]!)
  report('before', [
    { name: 'passages', value: NODES, unit: '' },
    { name: 'before, p50', value: percentile(before.ms, 0.5), unit: 'ms' },
    { name: 'now, p50', value: percentile(now.ms, 0.5), unit: 'ms' },
    { name: 'now / before, p50', value: percentile(now.ms, 0.5) / percentile(before.ms, 0.5), unit: '' },
    { name: 'now / before, p95', value: percentile(now.ms, 0.95) / percentile(before.ms, 0.95), unit: '' },
    { name: 'now / before, median of pairs', value: percentile(ratios, 0.5), unit: '', bar: { atMost: 1.1 } },
    { name: 'now / before, processor time', value: now.cpuMs / before.cpuMs, unit: '' },
    { name: 'now, processor time a question', value: now.cpuMs / QUERIES, unit: 'ms' },
  ])
} finally {
  await Promise.all([before.daemon.stop(), now.daemon.stop()])
  home.remove()
}

async function side(name: string, program: string): Promise<Side> {
  const daemon = await startDaemon(join(home.path, name), {}, program)
  const { spaceId } = await fillSpace(daemon.client, 'passages', documents)
  await untilSettled(daemon.client)
  return { daemon, spaceId, ms: [], cpuMs: 0 }
}

async function askBoth(query: string, oldFirst: boolean): Promise<void> {
  for (const one of oldFirst ? [before, now] : [now, before])
    one.ms.push((await ask(one.daemon.client, one.spaceId, query)).ms)
}

/** Processor time so far of a process and all below it, in milliseconds. */
function cpuMs(pid: number): number {
  const fields = statOf(pid)
  const own = ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && statOf(Number(name))[1] === String(pid))
  return children.reduce((sum, child) => sum + cpuMs(Number(child)), own)
}

/** Fields of a process's `stat` after its name: state, parent …; none when it is gone. */
function statOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  } catch {
    return []
  }
}

function files() {
  return Array.from({ length: Math.ceil(NODES / SECTIONS_A_FILE) }, (_, place) => {
    const inside = sections.slice(place * SECTIONS_A_FILE, (place + 1) * SECTIONS_A_FILE)
    const body = inside.map((text, number) => `## ${zipfWord(random)} ${number}\n\n${text}\n`)
    return { filename: `file-${place}.md`, text: `# ${zipfWord(random)} ${place}\n\n${body.join('\n')}` }
  })
}
