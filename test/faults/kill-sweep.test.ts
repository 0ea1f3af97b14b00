import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, expect, test } from 'vitest'
import { ask } from '../../bench/lib/ask.js'
import { type BenchDaemon, isAlive, startDaemon } from '../../bench/lib/daemon.js'
import { Ledger, listDocuments, makeNote, type Note, settled, verify } from '../crash/ledger.js'
import { seededRandom } from '../crash/random.js'
import { until } from '../helpers/until.js'
import { integrityOf, issuesOf } from './rig/checks.js'
import { faultSeed, rounds } from './rig/rounds.js'
import { type FaultShim, shimTrouble } from './rig/shim.js'
import { type ShimmedDaemon, startShimmed } from './rig/shimmed-daemon.js'
import { spread, steps } from './rig/sweep.js'

const seed = faultSeed()
const random = seededRandom(seed)
const ROUND_MS = 60_000
const WAL = 'main.sqlite-wal'

let shimmed: ShimmedDaemon | undefined
let daemon: BenchDaemon | undefined

afterEach(async () => {
  await daemon?.kill()
  daemon = undefined
  shimmed?.remove()
  shimmed = undefined
})

/** A data directory with a daemon that can be killed at any step, and a space with one document. */
async function start(): Promise<{
  dataDir: string
  shim: FaultShim
  spaceId: string
  ledger: Ledger
  running: BenchDaemon
}> {
  shimmed = await startShimmed('kill-sweep')
  const { dataDir, shim } = shimmed
  daemon = shimmed.daemon
  const { id: spaceId } = await daemon.client.request('POST /knowledge-spaces', {
    body: { name: 'Sweep', slug: 'sweep' },
  })
  const ledger = new Ledger(spaceId)
  await upload(daemon, ledger, makeNote('first', 0))
  await settled(daemon.client, ledger)
  return { dataDir, shim, spaceId, ledger, running: daemon }
}

/** Uploads a note with an idempotency key. @returns the id of the document; undefined without a response */
async function upload(running: BenchDaemon, ledger: Ledger, note: Note): Promise<string | undefined> {
  ledger.sent.add(note.filename)
  const form = new FormData()
  form.append('file', new Blob([note.bytes], { type: 'text/markdown' }), note.filename)
  const response = await fetch(`${running.url}/knowledge-spaces/${ledger.spaceId}/documents`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${readFileSync(join(running.dataDir, 'cli.token'), 'utf8').trim()}`,
      'idempotency-key': note.word,
    },
    body: form,
  }).catch(() => undefined)
  if (response === undefined) return undefined
  const text = await response.text().catch(() => '')
  if (text === '') return undefined
  expect(response.status, text).toBe(202)
  const { asset }: { asset: { id: string } } = JSON.parse(text)
  ledger.acknowledged.set(asset.id, note)
  return asset.id
}

async function dead(running: BenchDaemon): Promise<void> {
  await until(() => !isAlive(running.pid), ROUND_MS)
  await running.kill()
}

async function expectWhole(running: BenchDaemon, ledger: Ledger, dataDir: string): Promise<void> {
  expect(await verify(running.client, ledger), `seed ${seed}`).toMatchObject({
    lost: [],
    half: [],
    risen: [],
    stuck: [],
  })
  expect(await issuesOf(running.client, ledger.spaceId), `seed ${seed}`).toEqual([])
  await running.stop()
  expect(integrityOf(join(dataDir, 'db', 'main.sqlite'))).toBe('ok')
}

const UPLOAD_KILLS = rounds(8)
test.skipIf(shimTrouble !== undefined)(
  'F02, F10: after a kill at any step of an upload the document is complete or absent, and a repeated upload creates it once',
  { timeout: 120_000 + UPLOAD_KILLS * ROUND_MS },
  async () => {
    const { dataDir, shim, ledger, running } = await start()
    shim.setRules({ on: 'change', effect: 'note' })
    await upload(running, ledger, makeNote('noted', 1))
    const places = spread(steps(shim.hits()), UPLOAD_KILLS, random)
    let answered = 0
    for (const [round, skip] of places.entries()) {
      const note = makeNote(`r${round}`, round + 2)
      // Ready and idle, so that only steps of the upload are counted.
      shim.setRules()
      await settled(daemon!.client, ledger)
      shim.setRules({ on: 'change', effect: 'kill', skip, count: 1 })
      const id = await upload(daemon!, ledger, note)
      if (id !== undefined) answered++
      await dead(daemon!)
      shim.setRules()
      daemon = await startDaemon(dataDir, shim.env)
      const again = await upload(daemon, ledger, note)
      const what = `killed at step ${skip}, seed ${seed}`
      if (id !== undefined) expect(again, what).toBe(id)
      const named = (await listDocuments(daemon.client, ledger.spaceId)).filter(
        ({ filename }) => filename === note.filename,
      )
      expect(
        named.map((document) => document.id),
        what,
      ).toEqual([again])
    }
    await expectWhole(daemon!, ledger, dataDir)
    process.stdout.write(
      `FIGURE kill-sweep-upload ${JSON.stringify({ seed, crashPoints: places.length, answered, lost: 0, half: 0, doubled: 0 })}\n`,
    )
  },
)

const STAGE_KILLS = rounds(8)
test.skipIf(shimTrouble !== undefined)(
  'F05: a document whose daemon is killed before or after any commit of its compilation is published once and completely',
  { timeout: 120_000 + STAGE_KILLS * ROUND_MS },
  async () => {
    const { dataDir, shim, ledger, running } = await start()
    shim.setRules({ on: 'fsync', effect: 'note', path: WAL })
    await upload(running, ledger, makeNote('noted', 1))
    await settled(running.client, ledger)
    const commits = shim.hits().length
    const places = Array.from({ length: commits * 2 }, (_, place) => place)
    const chosen = spread(places, STAGE_KILLS, random)
    for (const [round, place] of chosen.entries()) {
      shim.setRules({
        on: 'fsync',
        effect: place % 2 === 0 ? 'kill' : 'kill-after',
        skip: Math.floor(place / 2),
        count: 1,
        path: WAL,
      })
      const note = makeNote(`r${round}`, round + 2)
      const id = await upload(daemon!, ledger, note)
      // There are fewer commits than the first time if some were combined.
      if (id !== undefined) await Promise.race([dead(daemon!), settled(daemon!.client, ledger).catch(() => undefined)])
      await daemon!.kill()
      shim.setRules()
      daemon = await startDaemon(dataDir, shim.env)
      if (id === undefined) await upload(daemon, ledger, note)
      await settled(daemon.client, ledger)
    }
    await expectWhole(daemon!, ledger, dataDir)
    const sqlite = new Sqlite(join(dataDir, 'db', 'main.sqlite'), { readonly: true })
    const passages = sqlite
      .prepare(
        'SELECT DISTINCT count(*) FROM nodes WHERE version_key IN (SELECT key FROM versions WHERE until_revision IS NULL) GROUP BY doc_key',
      )
      .pluck()
      .all()
    sqlite.close()
    expect(passages, 'passages of documents of one form').toHaveLength(1)
    process.stdout.write(
      `FIGURE kill-at-each-job-stage ${JSON.stringify({ seed, kills: chosen.length, commits, stuck: 0, doublePassages: 0 })}\n`,
    )
  },
)

const QUERY_KILLS = rounds(4)
test.skipIf(shimTrouble !== undefined)(
  'F06: every completed answer has a trace, whichever commit of its query the daemon is killed at',
  { timeout: 120_000 + QUERY_KILLS * ROUND_MS },
  async () => {
    const { dataDir, shim, ledger, running } = await start()
    const { word } = makeNote('first', 0)
    await ask(running.client, ledger.spaceId, word)
    shim.setRules({ on: 'fsync', effect: 'note', path: WAL })
    await ask(running.client, ledger.spaceId, word)
    const commits = shim.hits().length
    let done = 0
    for (let round = 0; round < QUERY_KILLS; round++) {
      const place = round % (commits * 2)
      shim.setRules({
        on: 'fsync',
        effect: place % 2 === 0 ? 'kill' : 'kill-after',
        skip: Math.floor(place / 2),
        count: 1,
        path: WAL,
      })
      const seen: string[] = []
      let traceId: string | undefined
      try {
        const { headers, events } = await daemon!.client.stream('POST /queries', {
          body: { knowledgeSpaceId: ledger.spaceId, query: word, mode: 'fast' },
        })
        traceId = String(headers['x-query-run-id'])
        for await (const { event } of events) seen.push(event)
      } catch {
        // The daemon was killed, and the connection breaks.
      }
      await daemon!.kill()
      shim.setRules()
      daemon = await startDaemon(dataDir, shim.env)
      if (traceId === undefined) continue
      const status = await daemon.client
        .request('GET /queries/{traceId}', { path: { traceId } })
        .then(() => 200)
        .catch((error: { status?: number }) => error.status)
      if (seen.includes('answer.done')) {
        done++
        expect(status, `killed at commit ${place}, seed ${seed}`).toBe(200)
      } else expect([200, 404]).toContain(status)
    }
    await expectWhole(daemon!, ledger, dataDir)
    process.stdout.write(
      `FIGURE kill-around-done-frame ${JSON.stringify({ kills: QUERY_KILLS, commits, done, doneWithoutTrace: 0 })}\n`,
    )
  },
)
