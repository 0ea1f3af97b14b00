import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { attachDaemon, type BenchDaemon, runKs, startDaemon, temporaryFolder } from '../../bench/lib/daemon.js'
import { percentile } from '../../bench/lib/report.js'
import { type Findings, ingest, Ledger, makeNote, settled, verify } from './ledger.js'
import { crashSeed, seededRandom } from './random.js'

const ROUNDS = Number(process.env['KS_CRASH_ROUNDS'] ?? 5)
const FILES = 300
/** Half of the kills occur while uploads are being acknowledged, the others during compilation. */
const UPLOADING = 0.5

const home = temporaryFolder('crash')
const seed = crashSeed()
const random = seededRandom(seed)
let daemon: BenchDaemon | undefined

afterAll(async () => {
  await daemon?.kill()
  home.remove()
})

test(`F01: a daemon killed at ${ROUNDS} random moments of an ingest loses nothing that it acknowledged`, {
  timeout: (ROUNDS + 1) * 120_000,
}, async () => {
  process.stdout.write(`crash seed ${seed} (KS_CRASH_SEED=${seed} repeats the moments)\n`)
  daemon = await startDaemon(home.path)
  const times = await calibrate(daemon)
  const all: Findings = { acknowledged: 0, lost: [], half: [], risen: [], stuck: [] }
  const restarts: number[] = []
  let cutShort = 0
  for (let round = 0; round < ROUNDS; round++) {
    const ledger = await newSpace(daemon, `round-${round}`)
    const killed = await ingestAndKill(daemon, ledger, round, killMoment(times))
    if (killed.duringIngest) cutShort++
    const started = performance.now()
    // Any next command of the user starts the daemon again.
    const command = await runKs(home.path, ['spaces', 'list', '--json'])
    restarts.push(performance.now() - started)
    expect(command, `the command after kill ${round}`).toMatchObject({ code: 0 })
    daemon = await attachDaemon(home.path)
    add(all, await verify(daemon.client, ledger))
  }
  const figure =
    `FIGURE crash-daemon: rounds ${ROUNDS}, killed during ingest ${cutShort}, acknowledged ${all.acknowledged}, ` +
    `lost ${all.lost.length}, half ${all.half.length}, deleted but back ${all.risen.length}, ` +
    `stuck after 60 s ${all.stuck.length}, next command failed 0, ` +
    `next command p50 ${Math.round(percentile(restarts, 0.5))} ms, max ${Math.round(Math.max(...restarts))} ms, seed ${seed}`
  process.stdout.write(`${figure}\n`)
  expect(all).toMatchObject({ lost: [], half: [], risen: [], stuck: [] })
})

interface Times {
  /** milliseconds until every upload is acknowledged, and until every document is published */
  uploaded: number
  published: number
}

/** Measures an ingest without kills on this machine. */
async function calibrate(running: BenchDaemon): Promise<Times> {
  const ledger = await newSpace(running, 'calibration')
  const started = performance.now()
  await ingest(running.client, ledger, notesOf(0))
  const uploaded = performance.now() - started
  await settled(running.client, ledger)
  const published = performance.now() - started
  const findings = await verify(running.client, ledger)
  expect(findings, 'an ingest that nobody disturbs').toMatchObject({ lost: [], half: [], risen: [], stuck: [] })
  return { uploaded, published }
}

function killMoment({ uploaded, published }: Times): number {
  return random() < UPLOADING ? random() * uploaded : uploaded + random() * (published - uploaded)
}

async function newSpace(running: BenchDaemon, slug: string): Promise<Ledger> {
  const space = await running.client.request('POST /knowledge-spaces', { body: { name: slug, slug } })
  return new Ledger(space.id)
}

function notesOf(round: number) {
  return Array.from({ length: FILES }, (_, place) => makeNote(`r${round}-${place}`, round * FILES + place))
}

async function ingestAndKill(running: BenchDaemon, ledger: Ledger, round: number, afterMs: number) {
  let done = false
  const working = ingest(running.client, ledger, notesOf(round + 1)).then(
    () => {
      done = true
    },
    // The connection breaks; the ledger contains what was acknowledged before.
    () => undefined,
  )
  await sleep(afterMs)
  const duringIngest = !done
  await running.kill()
  await working
  return { duringIngest }
}

function add(all: Findings, found: Findings): void {
  all.acknowledged += found.acknowledged
  all.lost.push(...found.lost)
  all.half.push(...found.half)
  all.risen.push(...found.risen)
  all.stuck.push(...found.stuck)
}
