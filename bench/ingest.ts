/**
 * Ingest as a person does it: 20,000 Markdown notes of 1 KiB in a folder, `ks ingest --wait`, and once more when nothing
 * has changed. Memory is the peak of each process, the event loop is the daemon's own measure.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { runKs, startDaemon, temporaryFolder } from './lib/daemon.js'
import { type Figure, report } from './lib/report.js'
import { numbers, prose, zipfWord } from './lib/words.js'

const FILES = Number(process.argv[2] ?? 20_000)
const FILE_CHARACTERS = 1024
const FILES_A_FOLDER = 500
const SEED = 20_000
const SAMPLE_MS = 1000
const MEGABYTE = 1024 ** 2
const RESOLUTION_MS = 10
const NANOSECONDS = 1e6

/** A person at the keyboard of the same machine should not notice: one frame at 20 Hz. */
const LAG_P99_BAR_MS = 50

const home = temporaryFolder('bench-ingest')
const dataDir = join(home.path, 'data')
const folder = join(home.path, 'notes')
writeNotes(folder, FILES)

const daemon = await startDaemon(dataDir)
try {
  const { client } = daemon
  await client.request('POST /knowledge-spaces', { body: { name: 'Notes', slug: 'notes' } })
  await client.request('GET /daemon/status', { query: { reset: 'true' } })
  const peaks = new Map<string, number>()
  const sampling = new AbortController()
  const sampled = samplePeaks(peaks, sampling.signal)
  // this process has nothing to do: what delays it is the load of the machine, which delays the daemon too
  const idle = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  idle.enable()
  const first = await timed(['ingest', folder, '--space', 'notes', '--wait'])
  const status = await client.request('GET /daemon/status', { query: { reset: 'true' } })
  idle.disable()
  sampling.abort()
  await sampled
  const [space] = (await client.request('GET /knowledge-spaces', {})).items
  const { storage } = await client.request('GET /knowledge-spaces/{id}/stats', { path: { id: space?.id ?? '' } })
  const second = await timed(['ingest', folder, '--space', 'notes', '--wait'])
  const idleP99 = Math.max(0, idle.percentile(99) / NANOSECONDS - RESOLUTION_MS)
  const figures: Figure[] = [
    { name: 'documents published', value: storage.documentCount, unit: '', bar: { atLeast: FILES } },
    { name: 'first run', value: first, unit: 's' },
    { name: 'rate', value: FILES / first, unit: 'documents/s' },
    { name: 'event loop p99', value: status.eventLoop?.p99 ?? 0, unit: 'ms', bar: { atMost: LAG_P99_BAR_MS } },
    { name: 'event loop p99 of an idle process beside', value: idleP99, unit: 'ms' },
    { name: 'event loop max', value: status.eventLoop?.max ?? 0, unit: 'ms' },
    ...[...peaks].map(([role, bytes]) => ({ name: `peak memory of ${role}`, value: bytes / MEGABYTE, unit: 'MiB' })),
    { name: 'second run, nothing changed', value: second, unit: 's' },
    { name: 'second run / first run', value: second / first, unit: '' },
  ]
  report('ingest', figures)
} finally {
  await daemon.stop()
  home.remove()
}

/** Seconds of one `ks` command. */
async function timed(args: string[]): Promise<number> {
  const result = await runKs(dataDir, args)
  if (result.code !== 0) throw new Error(`ks ${args[0]} exited with ${result.code}: ${result.stderr.slice(-2000)}`)
  return result.ms / 1000
}

/** Keeps the highest peak of each kind of process; parsers come and go. */
async function samplePeaks(peaks: Map<string, number>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { processes = [] } = await daemon.client.request('GET /daemon/status', {})
    for (const { role, peakRss } of processes) peaks.set(role, Math.max(peaks.get(role) ?? 0, peakRss))
    await sleep(SAMPLE_MS, undefined, { signal }).catch(() => undefined)
  }
}

function writeNotes(root: string, count: number): void {
  const random = numbers(SEED)
  for (let place = 0; place < count; place++) {
    const inside = join(root, String(Math.floor(place / FILES_A_FOLDER)))
    if (place % FILES_A_FOLDER === 0) mkdirSync(inside, { recursive: true })
    const title = `# ${zipfWord(random)} ${zipfWord(random)} ${place}\n\n`
    writeFileSync(join(inside, `note-${place}.md`), title + prose(random, FILE_CHARACTERS - title.length))
  }
}
