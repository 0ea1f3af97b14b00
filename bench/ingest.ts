/**
 * 20,000 Markdown notes of 1 KiB: over HTTP into a new daemon beside LanceDB, which is given the vectors, in turns; then
 * as a person does it, `ks ingest --wait` of a folder, and once more when nothing has changed. Memory is the peak of each
 * process, the event loop is the daemon's own measure. `ingest NOTES ROUNDS`
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { withVectors } from './lib/built-in-vectors.js'
import { makeNotes } from './lib/corpus.js'
import { type BenchDaemon, runKs, startDaemon, temporaryFolder } from './lib/daemon.js'
import { type Filled, startPeer, writeWorkload } from './lib/peers/host.js'
import { installPeers } from './lib/peers/install.js'
import { type Peaks, processorMs, withPeaks } from './lib/process-memory.js'
import { type Figure, percentile, report } from './lib/report.js'
import { acrossRounds, ratioOf } from './lib/turns.js'
import { fillSpace } from './lib/upload.js'

const [, , count = '20000', turns = '2'] = process.argv
const NOTES = Number(count)
const ROUNDS = Number(turns)
const NOTE_CHARACTERS = 1024
const FILES_A_FOLDER = 500
const SEED = 20_000
const MEGABYTE = 1e6
const RESOLUTION_MS = 10
const NANOSECONDS = 1e6

/** A person at the keyboard of the same machine should not notice: one frame at 20 Hz. */
const LAG_P99_BAR_MS = 50
const MEMORY_BAR_MB = 450

interface Taken {
  seconds: number
  cpuSeconds: number
  peaks: Peaks
  lag: { p99: number; max: number }
  /** what delayed this process, which had nothing to do: the load of the machine, which delays the daemon too */
  idleP99: number
  published: number
}

installPeers()
const home = temporaryFolder('bench-ingest')
const notes = makeNotes(NOTES, SEED, NOTE_CHARACTERS)
writeWorkload(
  home.path,
  withVectors(
    notes.map(({ filename, text }) => ({ title: filename, text })),
    notes.slice(0, 100).map(({ text }) => text.slice(2, 40)),
  ),
)
const folder = join(home.path, 'notes')
for (const [place, { filename, text }] of notes.entries()) {
  const inside = join(folder, String(Math.floor(place / FILES_A_FOLDER)))
  if (place % FILES_A_FOLDER === 0) mkdirSync(inside, { recursive: true })
  writeFileSync(join(inside, filename), text)
}
try {
  const ours: Taken[] = []
  const theirs: Filled[] = []
  const byHttp = async (round: number) =>
    ours.push(
      await inDaemon(`http-${round}`, async ({ client }) => {
        await fillSpace(client, 'notes', notes)
      }),
    )
  const byLance = async (round: number) => {
    const peer = await startPeer('lancedb', home.path, join(home.path, `lancedb-${round}`))
    await peer.stop()
    theirs.push(peer)
  }
  for (let round = 0; round < ROUNDS; round++)
    for (const one of round % 2 === 0 ? [byHttp, byLance] : [byLance, byHttp]) await one(round)
  let again = Number.NaN
  const cli = await inDaemon(
    'cli',
    async ({ dataDir }) => {
      await ks(dataDir, ['ingest', folder, '--space', 'notes', '--create', '--wait'])
    },
    async ({ dataDir }) => {
      again = await ks(dataDir, ['ingest', folder, '--space', 'notes', '--wait'])
    },
  )
  report('ingest', figuresOf(ours, theirs, cli, again))
} finally {
  home.remove()
}

/** Takes the notes in with a daemon of its own. @param after done before it stops, and not measured here */
async function inDaemon(
  name: string,
  take: (daemon: BenchDaemon) => Promise<void>,
  after: (daemon: BenchDaemon) => Promise<void> = async () => undefined,
): Promise<Taken> {
  const daemon = await startDaemon(join(home.path, name))
  try {
    const { client } = daemon
    await client.request('GET /daemon/status', { query: { reset: 'true' } })
    const idle = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
    if (name === 'cli') idle.enable()
    const began = performance.now()
    const [seconds, peaks] = await withPeaks(client, async () => {
      await take(daemon)
      return (performance.now() - began) / 1000
    })
    idle.disable()
    const { eventLoop } = await client.request('GET /daemon/status', { query: { reset: 'true' } })
    const { items } = await client.request('GET /knowledge-spaces', {})
    const stats = await client.request('GET /knowledge-spaces/{id}/stats', { path: { id: items[0]?.id ?? '' } })
    const taken = {
      seconds,
      cpuSeconds: processorMs(daemon.pid) / 1000,
      peaks,
      lag: { p99: eventLoop?.p99 ?? Number.NaN, max: eventLoop?.max ?? Number.NaN },
      idleP99: Math.max(0, idle.percentile(99) / NANOSECONDS - RESOLUTION_MS),
      published: stats.storage.documentCount,
    }
    await after(daemon)
    return taken
  } finally {
    await daemon.stop()
  }
}

/** Seconds of one `ks` command. */
async function ks(dataDir: string, args: string[]): Promise<number> {
  const result = await runKs(dataDir, args)
  if (result.code !== 0) throw new Error(`ks ${args[0]} exited with ${result.code}: ${result.stderr.slice(-2000)}`)
  return result.ms / 1000
}

function figuresOf(ours: readonly Taken[], theirs: readonly Filled[], cli: Taken, again: number): Figure[] {
  const seconds = { ours: ours.map((one) => [one.seconds]), theirs: theirs.map((one) => [one.seconds]) }
  const rate = (all: readonly { seconds: number }[]) => acrossRounds(all.map((one) => NOTES / one.seconds))
  const peak = (of: (peaks: Peaks) => number) => acrossRounds(ours.map(({ peaks }) => of(peaks) / MEGABYTE))
  const lance = percentile(
    theirs.map((one) => one.seconds),
    0.5,
  )
  return [
    {
      name: 'notes published',
      value: Math.min(cli.published, ...ours.map((one) => one.published)),
      unit: '',
      bar: { atLeast: NOTES },
    },
    { name: 'over HTTP', ...rate(ours), unit: 'notes/s', beside: 'embedding and everything else' },
    { name: 'LanceDB', ...rate(theirs), unit: 'notes/s', beside: 'its graph and text index built, vectors given' },
    {
      name: `${NOTES} notes over HTTP, rate / LanceDB's`,
      ...ratioOf(seconds.theirs, seconds.ours),
      unit: '',
      bar: { atLeast: 1 },
      beside: `LanceDB with its graph, vectors given, ${(NOTES / lance).toFixed(0)} notes/s; in turns`,
    },
    {
      name: 'processor time a note, without the reading processes that ended',
      ...acrossRounds(ours.map((one) => (one.cpuSeconds * 1000) / NOTES)),
      unit: 'ms',
    },
    {
      name: 'daemon + index + reading processes, peaks',
      ...peak(({ daemon, index, parser }) => daemon + index + parser),
      unit: 'MB',
      bar: { atMost: MEMORY_BAR_MB },
      beside: `LanceDB ${(Math.max(...theirs.map((one) => one.peakBytes)) / MEGABYTE).toFixed(0)} MB beside the notes`,
    },
    ...(['daemon', 'index', 'parser'] as const).map((role) => ({
      name: `peak of ${role}`,
      ...peak((peaks) => peaks[role]),
      unit: 'MB',
    })),
    {
      name: 'ks ingest --wait',
      value: NOTES / cli.seconds,
      unit: 'notes/s',
      beside: 'a folder, reading and hashing it',
    },
    {
      name: 'event loop p99',
      value: cli.lag.p99,
      unit: 'ms',
      bar: { atMost: LAG_P99_BAR_MS },
      beside: `${cli.idleP99.toFixed(1)} ms in an idle process`,
    },
    { name: 'event loop max', value: cli.lag.max, unit: 'ms' },
    { name: 'ks ingest, nothing changed', value: again, unit: 's' },
    { name: 'ks ingest, nothing changed / first run', value: again / cli.seconds, unit: '' },
  ]
}
