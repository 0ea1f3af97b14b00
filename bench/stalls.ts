/**
 * What one large file does to everybody else: the longest answer of `GET /health` from its first byte until it is
 * published, and for as long with the same daemon idle; how long small notes that come behind it take to be found; the
 * most that each kind of process holds. `stalls FORMAT[:MB],FORMAT[:MB] ROUNDS SHARE`: `SHARE` of the sizes below.
 */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type BenchDaemon, startDaemon, temporaryFolder } from './lib/daemon.js'
import { type Probe, startProbe } from './lib/health-probe.js'
import { FORMATS, type LargeFile } from './lib/large-files.js'
import { type Peaks, withPeaks } from './lib/process-memory.js'
import { type Figure, percentile, printFigures, report } from './lib/report.js'
import { untilSettled } from './lib/settled.js'
import { acrossRounds } from './lib/turns.js'
import { untilPublished, uploadOne, uploadToSearchable } from './lib/upload.js'

const MEGABYTE = 1e6
/** Megabytes of text of a file that the reading process just takes: what is larger fails for its memory. */
const SIZES: Record<string, number> = {
  markdown: 30,
  text: 30,
  csv: 20,
  html: 12,
  json: 15,
  docx: 10,
  xlsx: 8.8, // 978,000 cells of 1,000,000
  pptx: 3.9, // 4,875 slides of 5,000
  pdf: 8,
}
const [, , asked = Object.keys(FORMATS).join(','), rounds = '5', share = '1'] = process.argv
const ROUNDS = Number(rounds)
const SHARE = Number(share)
/** what a person takes for no wait at all */
const STALL_BAR_MS = 100
const DAEMON_BAR_MB = 400
const POLL_MS = 50
/** between two small notes behind the large file: somebody who works, not a load of its own */
const NOTE_PAUSE_MS = 500
const NOTES_ALONE = 5
/** an idle daemon is listened to for as long as a busy one, but no longer than this */
const IDLE_LIMIT_MS = 60_000

interface Round {
  busyMs: number
  idleMs: number
  seconds: number
  /** of the small notes that were uploaded right behind it, and of some when nothing else went on, ms */
  behind: number[]
  alone: number[]
  peaks: Peaks
}

const figures: Figure[] = []
for (const one of asked.split(',')) {
  const [name = '', megabytes] = one.split(':')
  const make = FORMATS[name]
  if (make === undefined) throw new Error(`there is no format ${JSON.stringify(name)}`)
  try {
    const file = make(Number(megabytes ?? (SIZES[name] ?? 1) * SHARE) * MEGABYTE)
    const measured: Round[] = []
    for (let round = 0; round < ROUNDS; round++) measured.push(await inNewDaemon(file))
    const these = figuresOf(`${name}, ${(file.bytes.length / MEGABYTE).toFixed(1)} MB`, measured)
    printFigures(these)
    figures.push(...these)
  } catch (error) {
    // the others are worth knowing all the same
    process.stdout.write(`${name}: ${error instanceof Error ? error.message : error}\n`)
    process.exitCode = 1
  }
}
report('stalls', figures)

/** A daemon of its own for each round, because a process never forgets the most that it held. */
async function inNewDaemon(file: LargeFile): Promise<Round> {
  const home = temporaryFolder('bench-stalls')
  const daemon = await startDaemon(join(home.path, 'data'))
  try {
    const probe = await startProbe(daemon.url, join(home.path, 'probe'))
    try {
      return await measure(daemon, probe, file)
    } finally {
      await probe.stop()
    }
  } finally {
    await daemon.stop()
    home.remove()
  }
}

async function measure({ client }: BenchDaemon, probe: Probe, file: LargeFile): Promise<Round> {
  const { id } = await client.request('POST /knowledge-spaces', { body: { name: 'large', slug: 'large' } })
  const alone: number[] = []
  for (let place = 0; place < NOTES_ALONE; place++)
    alone.push(await uploadToSearchable(client, id, word('alone', place)))
  await probe.take()
  const [{ busyMs, took, behind }, peaks] = await withPeaks(client, async () => {
    const started = performance.now()
    const documentId = await uploadOne(client, id, file)
    let published = false
    const publishing = untilPublished(client, id, documentId, POLL_MS).finally(() => {
      published = true
    })
    const behind: number[] = []
    for (let place = 0; !published; place++) {
      behind.push(await uploadToSearchable(client, id, word('behind', place), POLL_MS))
      await Promise.race([publishing, sleep(NOTE_PAUSE_MS)])
    }
    await publishing
    const took = performance.now() - started
    return { took, behind, busyMs: (await probe.take()).longestMs }
  })
  await untilSettled(client)
  await probe.take()
  await sleep(Math.min(took, IDLE_LIMIT_MS))
  return { busyMs, idleMs: (await probe.take()).longestMs, seconds: took / 1000, behind, alone, peaks }
}

/** A word that stands nowhere else: its number in letters. */
function word(kind: string, place: number): string {
  return `qx${kind}${[...String(place)].map((digit) => 'bcdfghjkmp'[Number(digit)]).join('')}x`
}

function figuresOf(shown: string, all: readonly Round[]): Figure[] {
  const middle = (name: string, unit: string, of: (round: Round) => number, more: Partial<Figure> = {}): Figure => ({
    name: `${shown}: ${name}`,
    ...acrossRounds(all.map(of)),
    unit,
    ...more,
  })
  const peak = (role: keyof Peaks) => (round: Round) => round.peaks[role] / MEGABYTE
  const idle = Math.round(
    percentile(
      all.map(({ idleMs }) => idleMs),
      0.5,
    ),
  )
  const aloneMs = Math.round(
    percentile(
      all.flatMap(({ alone }) => alone),
      0.5,
    ),
  )
  return [
    middle('longest wait of /health', 'ms', ({ busyMs }) => busyMs, {
      bar: { atMost: STALL_BAR_MS },
      beside: `${idle} ms with the daemon idle as long`,
    }),
    middle('longest wait, idle daemon', 'ms', ({ idleMs }) => idleMs),
    middle('until published', 's', ({ seconds }) => seconds),
    middle('first small note behind it, until found', 'ms', ({ behind }) => behind[0] ?? Number.NaN, {
      beside: `${aloneMs} ms alone`,
    }),
    middle('slowest small note behind it, until found', 'ms', ({ behind }) => Math.max(...behind)),
    middle("daemon's peak", 'MB', peak('daemon'), { bar: { atMost: DAEMON_BAR_MB }, beside: 'VmHWM of a new daemon' }),
    middle("index process's peak", 'MB', peak('index')),
    middle("reading processes' peak", 'MB', peak('parser')),
  ]
}
