import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { afterEach, expect, test } from 'vitest'
import { ask } from '../../bench/lib/ask.js'
import { type BenchDaemon, startDaemon, temporaryFolder } from '../../bench/lib/daemon.js'
import { fillSpace, waitUntilIdle } from '../../bench/lib/upload.js'
import { seededRandom } from '../crash/random.js'
import { until } from '../helpers/until.js'
import { integrityOf } from './rig/checks.js'
import { journalLength, readJournal, rebuild } from './rig/journal.js'
import { faultSeed, rounds } from './rig/rounds.js'
import { type FaultShim, faultShim, shimTrouble } from './rig/shim.js'

/** Directories that are rebuilt. */
const IMAGES = rounds(12)
/** Questions of the journal, and how many run at once. */
const QUESTIONS = 60
const AT_ONCE = 6
/** of one sync */
const SLOW_MS = 2000
const GOES_ON_MS = 60_000
const WAL = '/db/main.sqlite-wal'
const QUESTION = 'When was the lighthouse built?'

const home = temporaryFolder('records')
const dataDir = join(home.path, 'data')
const database = join(dataDir, 'db', 'main.sqlite')
let shim: FaultShim | undefined
let daemon: BenchDaemon | undefined

afterEach(async () => {
  await daemon?.kill()
  daemon = undefined
  shim?.remove()
  shim = undefined
  home.remove()
})

async function start(options: { journal?: boolean } = {}) {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  shim = faultShim(dataDir, options)
  daemon = await startDaemon(dataDir, shim.env)
  const { client } = daemon
  const files = [{ filename: 'tower.md', text: '# Tower\n\nThe lighthouse was built in 1908 by the harbour office.\n' }]
  const { spaceId } = await fillSpace(client, 'records', files)
  await waitUntilIdle(client)
  return { shim, client, spaceId }
}

/** The trace of a question, and whether the answer was completed. */
async function askTraced(client: BenchDaemon['client'], knowledgeSpaceId: string) {
  const { headers, events } = await client.stream('POST /queries', {
    body: { knowledgeSpaceId, query: QUESTION, mode: 'fast' },
  })
  let isDone = false
  for await (const { event } of events) isDone ||= event === 'answer.done'
  return { traceId: String(headers['x-query-run-id']), isDone }
}

test.skipIf(shimTrouble !== undefined)(
  'F20: an answer whose trace cannot be synced is not completed, and writes pause until a sync works',
  { timeout: 180_000 },
  async () => {
    const { shim, client, spaceId } = await start()
    const done: string[] = []
    const isWell = async () => (await client.request('GET /health', {})).components.database
    done.push((await askTraced(client, spaceId)).traceId)
    for (let round = 0; round < 3; round++) {
      shim.setRules({ on: 'fsync', effect: 'EIO', path: WAL })
      const asked = await Promise.all(Array.from({ length: 4 }, () => askTraced(client, spaceId)))
      expect(asked.filter(({ isDone }) => isDone)).toEqual([])
      expect(await isWell()).toBe(false)
      shim.setRules()
      await until(isWell, GOES_ON_MS)
      const { traceId, isDone } = await askTraced(client, spaceId)
      expect(isDone).toBe(true)
      done.push(traceId)
    }
    await daemon?.kill()
    daemon = await startDaemon(dataDir)
    for (const traceId of done) await daemon.client.request('GET /queries/{traceId}', { path: { traceId } })
    await daemon.stop()
    daemon = undefined
    expect(integrityOf(database)).toBe('ok')
  },
)

test.skipIf(shimTrouble !== undefined)(
  `F14: in ${IMAGES} data directories after a power cut, every completed answer has its trace and evidence`,
  { timeout: 120_000 + IMAGES * 5_000 },
  async () => {
    const seed = faultSeed()
    const random = seededRandom(seed)
    process.stdout.write(`fault seed ${seed} (KS_FAULT_SEED=${seed} repeats it)\n`)
    const { shim, client, spaceId } = await start({ journal: true })
    const done: { traceId: string; at: number }[] = []
    let left = QUESTIONS
    const asker = async () => {
      while (left-- > 0) {
        const { traceId, isDone } = await askTraced(client, spaceId)
        expect(isDone).toBe(true)
        done.push({ traceId, at: journalLength(shim.journal) })
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, asker))
    await daemon?.kill()
    const journal = readJournal(shim.journal)
    let checked = 0
    for (let image = 0; image < IMAGES; image++) {
      // Right after an answer, when the synced data matters most.
      const at = done[Math.floor(random() * done.length)]!.at
      const kept = [0, 0.5, random()][image % 3]!
      const target = join(home.path, `image-${image}`)
      rebuild(journal, { at, random, kept }, dataDir, target)
      const sqlite = new Sqlite(join(target, 'db', 'main.sqlite'), { fileMustExist: true })
      const stored = sqlite.prepare('SELECT t.id FROM traces t JOIN evidence_bundles b ON b.id = t.bundle_id')
      const there = new Set(stored.pluck().all())
      const promised = done.filter((answer) => answer.at <= at)
      expect(
        promised.filter(({ traceId }) => !there.has(traceId)),
        `image ${image}, seed ${seed}, ${kept} kept`,
      ).toEqual([])
      expect(sqlite.pragma('integrity_check', { simple: true })).toBe('ok')
      sqlite.close()
      checked += promised.length
    }
    process.stdout.write(`FIGURE records-power-cut ${JSON.stringify({ seed, images: IMAGES, checked, lost: 0 })}\n`)
  },
)

test.skipIf(shimTrouble !== undefined)(
  'F23: during a slow sync of a trace further requests are answered, but never with data that is not durable',
  { timeout: 120_000 },
  async () => {
    const { shim, client, spaceId } = await start()
    await ask(client, spaceId, QUESTION)
    // The checkpoint thread also syncs the log. The first commit after that syncs the start of the log.
    await sleep(1000)
    shim.setRules({ on: 'fsync', effect: `delay=${SLOW_MS}`, skip: 1, count: 1, path: WAL })
    const before = shim.hits().length
    const { headers, events } = await client.stream('POST /queries', {
      body: { knowledgeSpaceId: spaceId, query: QUESTION, mode: 'fast' },
    })
    const traceId = String(headers['x-query-run-id'])
    let isDone = false
    const answered = (async () => {
      for await (const { event } of events) isDone ||= event === 'answer.done'
    })()
    await until(() => shim.hits().length > before, GOES_ON_MS)
    // The trace exists, but might be lost.
    let isTold = false
    const traceRead = client.request('GET /queries/{traceId}', { path: { traceId } }).then(() => {
      isTold = true
    })
    let healthy = 0
    for (; !isDone && !isTold; healthy++) await client.request('GET /health', {})
    await Promise.all([answered, traceRead])
    expect(healthy).toBeGreaterThan(10)
  },
)
