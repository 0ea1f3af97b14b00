import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, expect, test } from 'vitest'
import { ask } from '../../bench/lib/ask.js'
import type { BenchDaemon } from '../../bench/lib/daemon.js'
import type { Client } from '../../src/client/client.js'
import { ingest, Ledger, makeNote, type Note, settled, verify } from '../crash/ledger.js'
import { until } from '../helpers/until.js'
import { integrityOf } from './rig/checks.js'
import { rounds } from './rig/rounds.js'
import { type FaultShim, type Rule, shimTrouble } from './rig/shim.js'
import { type ShimmedDaemon, startShimmed } from './rig/shimmed-daemon.js'

/** delay of each sync of an ingest */
const SLOW_MS = 300
/** delay of one sync, during which other requests must be answered */
const ONE_MS = 2000
const DOCUMENTS = rounds(10)
const STEP_MS = 60_000

let shimmed: ShimmedDaemon | undefined
let daemon: BenchDaemon | undefined

afterEach(async () => {
  await daemon?.kill()
  daemon = undefined
  shimmed?.remove()
  shimmed = undefined
})

/** A daemon with ten published documents. @returns one of their words, too */
async function start() {
  shimmed = await startShimmed('slow-syncs')
  const { dataDir, shim } = shimmed
  daemon = shimmed.daemon
  const { client } = daemon
  const { id } = await client.request('POST /knowledge-spaces', { body: { name: 'Slow', slug: 'slow' } })
  const ledger = new Ledger(id)
  await ingest(client, ledger, notes(0, 10))
  await settled(client, ledger)
  // `ingest` deletes the first of them.
  return { dataDir, shim, client, ledger, word: makeNote('n1', 1).word }
}

function notes(from: number, count: number): Note[] {
  return Array.from({ length: count }, (_, place) => makeNote(`n${from + place}`, from + place))
}

test.skipIf(shimTrouble !== undefined)(
  'F23: with slow syncs no job runs twice, no lease is lost, and questions, searches and health are answered',
  { timeout: 120_000 + rounds(1) * 30_000 },
  async () => {
    const { dataDir, shim, client, ledger, word } = await start()
    const path = { id: ledger.spaceId }
    const database = join(dataDir, 'db', 'main.sqlite')
    const sqlite = new Sqlite(database)
    // A trigger records the claims.
    sqlite.exec(`CREATE TABLE taken_up (id TEXT);
      CREATE TRIGGER note_taken_up AFTER UPDATE OF claimed_by ON jobs
      WHEN OLD.claimed_by IS NULL AND NEW.claimed_by IS NOT NULL
      BEGIN INSERT INTO taken_up VALUES (NEW.id); END`)
    const asks = {
      health: () => client.request('GET /health', {}),
      search: async () => {
        const body = { query: word }
        const found = await client.request('POST /knowledge-spaces/{id}/queries/search', { path, body })
        expect(found.items).not.toEqual([])
      },
      question: async () => expect((await ask(client, ledger.spaceId, word)).bundle?.items).not.toEqual([]),
    }
    const answered = { health: 0, search: 0, question: 0 }

    shim.setRules({ on: 'fsync', effect: `delay=${SLOW_MS}` })
    let isOver = false
    const work = ingest(client, ledger, notes(10, DOCUMENTS))
      .then(() => settled(client, ledger))
      .finally(() => {
        isOver = true
      })
    const askers = (Object.keys(asks) as (keyof typeof asks)[]).map(async (what) => {
      for (; !isOver; answered[what]++) await asks[what]()
    })
    await Promise.all([work, ...askers])
    const syncs = shim.hits().length
    shim.setRules()

    expect(syncs).toBeGreaterThan(DOCUMENTS)
    for (const [what, count] of Object.entries(answered)) expect(count, what).toBeGreaterThan(1)
    const taken = sqlite.prepare('SELECT count(*) AS times FROM taken_up GROUP BY id').pluck().all()
    const tried = sqlite.prepare('SELECT count(*) FROM jobs WHERE attempts + waits + unclean_ends > 0').pluck().get()
    sqlite.exec('DROP TRIGGER note_taken_up; DROP TABLE taken_up')
    sqlite.close()
    expect(taken.length).toBeGreaterThan(0)
    expect(taken.filter((times) => times !== 1)).toEqual([])
    // A job that loses its lease is tried again.
    expect(tried).toBe(0)
    expect(readFileSync(join(dataDir, 'logs', 'daemon.log'), 'utf8')).not.toMatch(/lease of job|a batch failed/)
    expect(await verify(client, ledger)).toMatchObject({ lost: [], half: [], risen: [], stuck: [] })
    await daemon!.stop()
    expect(integrityOf(database)).toBe('ok')
    const figure = { syncs, delayMs: SLOW_MS, jobs: taken.length, twice: 0, leasesLost: 0, answered }
    process.stdout.write(`FIGURE slow-fsync ${JSON.stringify(figure)}\n`)
  },
)

/**
 * Delays one sync and counts the responses that certainly arrived during it.
 *
 * @param begin starts the work that leads to the sync; it is awaited afterwards
 */
async function answersDuring(client: Client, shim: FaultShim, rules: Rule[], begin: () => Promise<unknown>) {
  const begun = performance.now()
  const before = shim.hits().length
  shim.setRules(...rules)
  const work = begin()
  const sleeps = () =>
    shim
      .hits()
      .slice(before)
      .some((hit) => hit.includes(` delay=${ONE_MS} `))
  await until(sleeps, STEP_MS)
  let answers = 0
  while (performance.now() < begun + ONE_MS) {
    await client.request('GET /health', {})
    if (performance.now() < begun + ONE_MS) answers++
  }
  await work
  shim.setRules()
  return answers
}

test.skipIf(shimTrouble !== undefined)(
  'F23: a slow sync of an object or of a checkpoint does not block requests that are sent meanwhile',
  { timeout: 180_000 },
  async () => {
    const { shim, client, ledger } = await start()
    const path = { id: ledger.spaceId }
    const slow = { on: 'fsync', effect: `delay=${ONE_MS}`, count: 1 } as const
    let number = 100
    const upload = () => ingest(client, ledger, notes(number++, 1))
    const write = () =>
      client.request('PUT /knowledge-spaces/{id}/fs/write', {
        path,
        body: { path: `/workspaces/notes/${number++}.md`, content: 'a note' },
      })
    const places: Record<string, { rules: Rule[]; begin: () => Promise<unknown> }> = {
      object: { rules: [{ ...slow, path: '/objects/' }], begin: upload },
      database: {
        rules: [
          { on: 'fsync', effect: 'note', path: 'main.sqlite-wal' },
          { ...slow, path: 'main.sqlite' },
        ],
        begin: write,
      },
    }
    const counts: Record<string, number> = {}
    for (const [what, { rules, begin }] of Object.entries(places)) {
      const answers = await answersDuring(client, shim, rules, begin)
      counts[what] = answers
      // A sync that blocks the event loop would allow none.
      expect(answers, what).toBeGreaterThan(0)
    }
    process.stdout.write(`FIGURE slow-fsync ${JSON.stringify({ delayMs: ONE_MS, answersDuring: counts })}\n`)
  },
)
