/**
 * 20,000 Markdown notes of 1 KiB: over HTTP into a new daemon beside LanceDB, which is given the vectors, in turns; then
 * as a person does it, `ks ingest --wait` of a folder, and once more when nothing has changed. Memory is the peak of each
 * process, the event loop is the daemon's own measure. `ingest NOTES ROUNDS`
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { addVectors } from './lib/built-in-vectors.js'
import { makeNotes } from './lib/corpus.js'
import { type BenchDaemon, runKs, startDaemon, temporaryFolder } from './lib/daemon.js'
import { type FillFigures, startPeer, writeWorkload } from './lib/peers/host.js'
import { installPeers } from './lib/peers/install.js'
import { measurePeaks, type Peaks, readProcessorMs } from './lib/process-memory.js'
import { type Figure, percentile, report } from './lib/report.js'
import { computeRatio, summarizeRounds } from './lib/turns.js'
import { fillSpace } from './lib/upload.js'

const [, , count = '20000', turns = '2'] = process.argv
const NOTES = Number(count)
const ROUNDS = Number(turns)
const NOTE_CHARACTERS = 1024
const FILES_PER_FOLDER = 500
const SEED = 20_000
const MEGABYTE = 1e6
const RESOLUTION_MS = 10
const NANOSECONDS = 1e6

/** A person at the keyboard of the same machine should not notice: one frame at 20 Hz. */
const MAX_DELAY_P99_MS = 50
const MAX_MEMORY_MB = 450

interface IngestRun {
  seconds: number
  cpuSeconds: number
  peaks: Peaks
  delayMs: { p99: number; max: number }
  /** delay of this idle process, from the load of the machine */
  idleP99: number
  published: number
}

installPeers()
const home = temporaryFolder('bench-ingest')
const notes = makeNotes(NOTES, SEED, NOTE_CHARACTERS)
writeWorkload(
  home.path,
  addVectors(
    notes.map(({ filename, text }) => ({ title: filename, text })),
    notes.slice(0, 100).map(({ text }) => text.slice(2, 40)),
  ),
)
const folder = join(home.path, 'notes')
for (const [index, { filename, text }] of notes.entries()) {
  const subfolder = join(folder, String(Math.floor(index / FILES_PER_FOLDER)))
  if (index % FILES_PER_FOLDER === 0) mkdirSync(subfolder, { recursive: true })
  writeFileSync(join(subfolder, filename), text)
}
try {
  const ours: IngestRun[] = []
  const lanceRuns: FillFigures[] = []
  const runHttp = async (round: number) =>
    ours.push(
      await measureInDaemon(`http-${round}`, async ({ client }) => {
        await fillSpace(client, 'notes', notes)
      }),
    )
  const runLance = async (round: number) => {
    const peer = await startPeer('lancedb', home.path, join(home.path, `lancedb-${round}`))
    await peer.stop()
    lanceRuns.push(peer)
  }
  for (let round = 0; round < ROUNDS; round++)
    for (const one of round % 2 === 0 ? [runHttp, runLance] : [runLance, runHttp]) await one(round)
  let repeatSeconds = Number.NaN
  const cli = await measureInDaemon(
    'cli',
    async ({ dataDir }) => {
      await measureKs(dataDir, ['ingest', folder, '--space', 'notes', '--create', '--wait'])
    },
    async ({ dataDir }) => {
      repeatSeconds = await measureKs(dataDir, ['ingest', folder, '--space', 'notes', '--wait'])
    },
  )
  report('ingest', computeFigures(ours, lanceRuns, cli, repeatSeconds))
} finally {
  home.remove()
}

/** Ingests the notes with a new daemon. @param after runs before the daemon stops, and is not measured */
async function measureInDaemon(
  name: string,
  ingest: (daemon: BenchDaemon) => Promise<void>,
  after: (daemon: BenchDaemon) => Promise<void> = async () => undefined,
): Promise<IngestRun> {
  const daemon = await startDaemon(join(home.path, name))
  try {
    const { client } = daemon
    await client.request('GET /daemon/status', { query: { reset: 'true' } })
    const idle = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
    if (name === 'cli') idle.enable()
    const startedAt = performance.now()
    const [seconds, peaks] = await measurePeaks(client, async () => {
      await ingest(daemon)
      return (performance.now() - startedAt) / 1000
    })
    idle.disable()
    const { eventLoop } = await client.request('GET /daemon/status', { query: { reset: 'true' } })
    const { items } = await client.request('GET /knowledge-spaces', {})
    const stats = await client.request('GET /knowledge-spaces/{id}/stats', { path: { id: items[0]?.id ?? '' } })
    const run = {
      seconds,
      cpuSeconds: readProcessorMs(daemon.pid) / 1000,
      peaks,
      delayMs: { p99: eventLoop?.p99 ?? Number.NaN, max: eventLoop?.max ?? Number.NaN },
      idleP99: Math.max(0, idle.percentile(99) / NANOSECONDS - RESOLUTION_MS),
      published: stats.storage.documentCount,
    }
    await after(daemon)
    return run
  } finally {
    await daemon.stop()
  }
}

/** Returns the seconds that a `ks` command takes. */
async function measureKs(dataDir: string, args: string[]): Promise<number> {
  const result = await runKs(dataDir, args)
  if (result.code !== 0) throw new Error(`ks ${args[0]} exited with ${result.code}: ${result.stderr.slice(-2000)}`)
  return result.ms / 1000
}

function computeFigures(
  ours: readonly IngestRun[],
  lanceRuns: readonly FillFigures[],
  cli: IngestRun,
  repeatSeconds: number,
): Figure[] {
  const seconds = { ours: ours.map((one) => [one.seconds]), theirs: lanceRuns.map((one) => [one.seconds]) }
  const computeRate = (all: readonly { seconds: number }[]) => summarizeRounds(all.map((one) => NOTES / one.seconds))
  const computePeak = (of: (peaks: Peaks) => number) => summarizeRounds(ours.map(({ peaks }) => of(peaks) / MEGABYTE))
  const lanceSeconds = percentile(
    lanceRuns.map((one) => one.seconds),
    0.5,
  )
  return [
    {
      name: 'notes published',
      value: Math.min(cli.published, ...ours.map((one) => one.published)),
      unit: '',
      bar: { atLeast: NOTES },
    },
    { name: 'over HTTP', ...computeRate(ours), unit: 'notes/s', conditions: 'embedding and everything else' },
    {
      name: 'LanceDB',
      ...computeRate(lanceRuns),
      unit: 'notes/s',
      conditions: 'its graph and text index built, vectors given',
    },
    {
      name: `${NOTES} notes over HTTP, rate / LanceDB's`,
      ...computeRatio(seconds.theirs, seconds.ours),
      unit: '',
      bar: { atLeast: 1 },
      conditions: `LanceDB with its graph, vectors given, ${(NOTES / lanceSeconds).toFixed(0)} notes/s; in turns`,
    },
    {
      name: 'processor time a note, without the reading processes that ended',
      ...summarizeRounds(ours.map((one) => (one.cpuSeconds * 1000) / NOTES)),
      unit: 'ms',
    },
    {
      name: 'daemon + index + reading processes, peaks',
      ...computePeak(({ daemon, index, parser }) => daemon + index + parser),
      unit: 'MB',
      bar: { atMost: MAX_MEMORY_MB },
      conditions: `LanceDB ${(Math.max(...lanceRuns.map((one) => one.peakBytes)) / MEGABYTE).toFixed(0)} MB beside the notes`,
    },
    ...(['daemon', 'index', 'parser'] as const).map((role) => ({
      name: `peak of ${role}`,
      ...computePeak((peaks) => peaks[role]),
      unit: 'MB',
    })),
    {
      name: 'ks ingest --wait',
      value: NOTES / cli.seconds,
      unit: 'notes/s',
      conditions: 'a folder, reading and hashing it',
    },
    {
      name: 'event loop p99',
      value: cli.delayMs.p99,
      unit: 'ms',
      bar: { atMost: MAX_DELAY_P99_MS },
      conditions: `${cli.idleP99.toFixed(1)} ms in an idle process`,
    },
    { name: 'event loop max', value: cli.delayMs.max, unit: 'ms' },
    { name: 'ks ingest, nothing changed', value: repeatSeconds, unit: 's' },
    { name: 'ks ingest, nothing changed / first run', value: repeatSeconds / cli.seconds, unit: '' },
  ]
}
