import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { type BenchDaemon, isAlive, startDaemon, temporaryFolder } from '../../bench/lib/daemon.js'
import type { Client } from '../../src/client/client.js'
import type { ConsistencyIssue } from '../../src/contract/gateway/integrity.js'
import { sql } from '../engine/upkeep/integrity/space.js'
import { until } from '../helpers/until.js'
import { ingest, Ledger, makeNote, settled } from './ledger.js'
import { crashSeed, seededRandom } from './random.js'

const ROUNDS = Number(process.env['KS_CRASH_ROUNDS'] ?? 6)
const FILES = 500
const SECTIONS = 6
/** Notes that arrive during the rebuild. */
const ARRIVING = 10
/** Longer than any delay after which the daemon considers a process stable or an attempt failed. */
const LONG_STOP_MS = 5_500
const SETTLE_MS = 60_000

const home = temporaryFolder('crash-rebuild')
const seed = crashSeed()
const random = seededRandom(seed)
let daemon: BenchDaemon | undefined

afterAll(async () => {
  await daemon?.kill()
  home.remove()
})

const HARMS = ['index stopped', 'daemon stopped', 'slow disk', 'index killed', 'daemon killed'] as const
type Harm = (typeof HARMS)[number]

test(`F61: a rebuild of both indexes that is stopped, slowed or killed at ${ROUNDS} random moments ends with every row`, {
  timeout: (ROUNDS + 2) * 120_000,
}, async () => {
  process.stdout.write(`crash seed ${seed} (KS_CRASH_SEED=${seed} repeats the moments)\n`)
  daemon = await startDaemon(home.path)
  const space = await daemon.client.request('POST /knowledge-spaces', { body: { name: 'Rebuilt', slug: 'rebuilt' } })
  const ledger = new Ledger(space.id)
  await ingest(
    daemon.client,
    ledger,
    Array.from({ length: FILES }, (_, place) => longNote(place)),
  )
  await settled(daemon.client, ledger)
  await until(() => rowsOf(space.id).vectors >= rowsOf(space.id).passages, SETTLE_MS)
  const rebuildMs = await undisturbed(space.id)

  const wrong: string[] = []
  const done = new Map<Harm, number>()
  let cut = 0
  for (let round = 0; round < ROUNDS; round++) {
    const harm = HARMS[round % HARMS.length] ?? 'index killed'
    const running = await withoutIndexes()
    const asked = wholeness(running.client, space.id).catch(() => undefined)
    const arriving = ingest(running.client, ledger, arrivingNotes(round)).catch(() => undefined)
    await sleep(random() * rebuildMs)
    if (await isRebuilding(running.client, space.id)) cut++
    await doHarm(running, harm)
    await Promise.all([asked, arriving])
    done.set(harm, (done.get(harm) ?? 0) + 1)
    const found = await differences(daemon.client, ledger)
    if (found.length > 0) wrong.push(`round ${round}, ${harm}: ${found.join(', ')}`)
  }
  const { passages, vectors } = rowsOf(space.id)
  const harms = [...done].map(([harm, times]) => `${harm} ${times}`).join(', ')
  process.stdout.write(
    `FIGURE crash-rebuild: rounds ${ROUNDS}, equal to the rows ${ROUNDS - wrong.length}, in the middle ${cut} ` +
      `(${harms}), passages ${passages}, vectors ${vectors}, undisturbed ${Math.round(rebuildMs)} ms, seed ${seed}\n`,
  )
  expect(wrong).toEqual([])
})

/** A document of several passages with words that others share, so that a model is trained on them. */
function longNote(place: number) {
  const note = makeNote(`long-${place}`, place)
  const words = (section: number) =>
    Array.from({ length: 90 }, (_, word) => `subject${(place * 7 + section * 11 + word * word * 3) % 290}`).join(' ')
  const sections = Array.from({ length: SECTIONS }, (_, n) => `## Part ${n} of ${note.word}\n\n${words(n)}\n`)
  return { ...note, bytes: Buffer.from(`${note.bytes.toString()}\n${sections.join('\n')}`) }
}

function arrivingNotes(round: number) {
  return Array.from({ length: ARRIVING }, (_, place) =>
    makeNote(`late-${round}-${place}`, FILES + round * ARRIVING + place),
  )
}

/** The numbers of passages and vectors that the indexes should contain, from the rows. */
function rowsOf(spaceId: string): { passages: number; vectors: number } {
  const count = (from: string) => `SELECT count(*) FROM ${from} JOIN nodes ON nodes.key = node_key
    JOIN versions ON versions.key = nodes.version_key JOIN spaces ON spaces.key = nodes.space_key
    WHERE versions.until_revision IS NULL AND spaces.id = ?`
  return sql(home.path, (db) => ({
    passages: Number(db.prepare(count('(SELECT key node_key FROM nodes)')).pluck().get(spaceId)),
    vectors: Number(
      db
        .prepare(
          count(`(SELECT node_key FROM vectors JOIN vector_spaces ON vector_spaces.key = vector_space
            WHERE state = 'active')`),
        )
        .pluck()
        .get(spaceId),
    ),
  }))
}

/** Starts a daemon without indexes. */
async function withoutIndexes(): Promise<BenchDaemon> {
  await daemon?.stop()
  rmSync(join(home.path, 'indexes'), { recursive: true })
  daemon = await startDaemon(home.path)
  return daemon
}

async function undisturbed(spaceId: string): Promise<number> {
  const { client } = await withoutIndexes()
  const started = performance.now()
  await until(async () => (await wholeness(client, spaceId)).length === 0, SETTLE_MS)
  return performance.now() - started
}

/** The report of the daemon about its indexes. The request opens them, which starts the rebuild. */
async function wholeness(client: Client, id: string): Promise<string[]> {
  const { index } = await client.request('GET /knowledge-spaces/{id}/status', { path: { id } })
  return index.degraded ?? []
}

/** Whether a rebuild is running; with a timeout, since small rebuilds delay the response. */
async function isRebuilding(client: Client, spaceId: string): Promise<boolean> {
  const answered = wholeness(client, spaceId).catch(() => ['not there'])
  return (await Promise.race([answered, sleep(50, ['still waiting'])])).length > 0
}

async function doHarm(running: BenchDaemon, harm: Harm): Promise<void> {
  const indexPid = harm.startsWith('daemon') ? running.pid : await pidOfIndex(running)
  switch (harm) {
    case 'index stopped':
    case 'daemon stopped':
      return stopAndGo(indexPid, LONG_STOP_MS)
    case 'slow disk':
      for (let times = 0; times < 20; times++) {
        await stopAndGo(indexPid, 20 + random() * 60)
        await sleep(10 + random() * 30)
      }
      return
    case 'index killed':
      process.kill(indexPid, 'SIGKILL')
      return
    case 'daemon killed':
      await running.kill()
      daemon = await startDaemon(home.path)
      return
    default:
      return harm satisfies never
  }
}

async function stopAndGo(pid: number, milliseconds: number): Promise<void> {
  if (!isAlive(pid)) return
  process.kill(pid, 'SIGSTOP')
  await sleep(milliseconds)
  process.kill(pid, 'SIGCONT')
}

async function pidOfIndex({ client }: BenchDaemon): Promise<number> {
  let pid: number | undefined
  await until(async () => {
    const { processes } = await client.request('GET /daemon/status', {})
    pid = processes?.find((process) => process.role === 'index')?.pid
    return pid !== undefined
  })
  return pid ?? 0
}

/** Differences between each index and the rows, once no compilation or rebuild is running. */
async function differences(client: Client, ledger: Ledger): Promise<string[]> {
  await settled(client, ledger)
  const deadline = Date.now() + SETTLE_MS
  for (;;) {
    const degraded = await wholeness(client, ledger.spaceId)
    const found = degraded.length === 0 ? await compared(client, ledger.spaceId) : degraded
    if (found !== 'busy' && (found.length === 0 || Date.now() > deadline || degraded.length === 0)) return found
    if (Date.now() > deadline) return ['the indexes could not be compared with the rows']
    await sleep(200)
  }
}

/** The counts of both indexes and of the rows, as `ks fsck` compares them. */
async function compared(client: Client, id: string): Promise<string[] | 'busy'> {
  const found: ConsistencyIssue[] = []
  let cursor: string | undefined
  do {
    const query = { check: 'references', ...(cursor === undefined ? {} : { cursor }) } as const
    const page = await client.request('GET /knowledge-spaces/{id}/fsck', { path: { id }, query })
    found.push(...page.issues.filter(({ target }) => target.type === 'index-projection'))
    cursor = page.cursor
  } while (cursor !== undefined)
  if (found.some(({ code }) => code === 'index-not-compared')) return 'busy'
  return found.map(({ message }) => message)
}
