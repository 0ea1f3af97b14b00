import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { ask } from '../../bench/lib/ask.js'
import { type BenchDaemon, startDaemon, temporaryFolder } from '../../bench/lib/daemon.js'
import { ingest, Ledger, makeNote, verify, wordOf } from './ledger.js'
import { crashSeed, seededRandom } from './random.js'

const KILLS = 20
const FILES = 300
const ASKERS = 3
/** time for a restart between two kills, so that each kill meets a running process */
const PAUSE_MS = { least: 150, spread: 700 }

const home = temporaryFolder('crash-index')
let daemon: BenchDaemon | undefined

afterAll(async () => {
  await daemon?.kill()
  home.remove()
})

interface Asked {
  started: number
  ended: number
  error?: string
}

test(`F08: queries succeed while the index process is killed ${KILLS} times, and nothing is lost`, async () => {
  const seed = crashSeed()
  const random = seededRandom(seed)
  daemon = await startDaemon(home.path)
  const { client } = daemon
  const space = await client.request('POST /knowledge-spaces', { body: { name: 'Index', slug: 'index' } })
  const ledger = new Ledger(space.id)
  await ingest(client, ledger, notes(0))
  await verify(client, ledger)

  const asked: Asked[] = []
  const kills: number[] = []
  let stop = false
  const asker = async (): Promise<void> => {
    while (!stop) {
      const started = performance.now()
      const error = await ask(client, space.id, wordOf(Math.floor(random() * FILES))).then(
        () => undefined,
        (reason: unknown) => String(reason),
      )
      asked.push({ started, ended: performance.now(), ...(error === undefined ? {} : { error }) })
    }
  }
  const asking = Promise.all(Array.from({ length: ASKERS }, asker))
  const ingesting = ingest(client, ledger, notes(1))
  while (kills.length < KILLS) {
    await sleep(PAUSE_MS.least + random() * PAUSE_MS.spread)
    const pid = await indexPid()
    if (pid === undefined) continue
    kills.push(performance.now())
    process.kill(pid, 'SIGKILL')
  }
  await ingesting
  await sleep(500)
  stop = true
  await asking

  const failures = asked.filter((one) => one.error !== undefined)
  const inFlight = failures.filter((one) => kills.some((at) => one.started <= at && at <= one.ended))
  const found = await verify(client, ledger)
  const figure =
    `FIGURE crash-index: kills ${kills.length}, queries ${asked.length}, failed ${failures.length - inFlight.length}, ` +
    `failed in flight ${inFlight.length}, acknowledged ${found.acknowledged}, lost ${found.lost.length}, ` +
    `half ${found.half.length}, stuck ${found.stuck.length}, seed ${seed}`
  process.stdout.write(`${figure}\n`)
  expect(failures.filter((one) => !inFlight.includes(one))).toEqual([])
  expect(found).toMatchObject({ lost: [], half: [], risen: [], stuck: [] })
})

function notes(part: number) {
  return Array.from({ length: FILES }, (_, place) => makeNote(`i${part}-${place}`, part * FILES + place))
}

async function indexPid(): Promise<number | undefined> {
  const status = await daemon?.client.request('GET /daemon/status', {})
  return status?.processes?.find((process) => process.role === 'index')?.pid
}
