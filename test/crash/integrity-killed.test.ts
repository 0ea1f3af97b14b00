import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { type BenchDaemon, startDaemon, temporaryFolder } from '../../bench/lib/daemon.js'
import type { Client } from '../../src/client/client.js'
import type { FsckCheck, GcCandidate } from '../../src/contract/gateway/integrity.js'
import { ObjectStore } from '../../src/engine/store/objects.js'
import { CHECKS, sql } from '../engine/upkeep/integrity/space.js'
import { ingest, Ledger, makeNote, settled, verify } from './ledger.js'
import { crashSeed, seededRandom } from './random.js'

const KILLS = Number(process.env['KS_CRASH_ROUNDS'] ?? 5)
const FILES = 60
const ORPHANS = 80
const HOURS_AGO = new Date(Date.now() - 3 * 60 * 60 * 1000)

const home = temporaryFolder('crash-integrity')
let daemon: BenchDaemon | undefined

afterAll(async () => {
  await daemon?.kill()
  home.remove()
})

test(`F03: garbage collection and repair, killed ${KILLS} times, lose no needed object; the next run completes`, {
  timeout: (KILLS + 1) * 120_000,
}, async () => {
  const seed = crashSeed()
  const random = seededRandom(seed)
  daemon = await startDaemon(home.path)
  const space = await daemon.client.request('POST /knowledge-spaces', { body: { name: 'Torn', slug: 'torn' } })
  const ledger = new Ledger(space.id)
  await ingest(
    daemon.client,
    ledger,
    Array.from({ length: FILES }, (_, place) => makeNote(`n${place}`, place)),
  )
  await settled(daemon.client, ledger)
  const tenant = space.tenantId
  const live = await objectsOf(daemon.client, space.id)

  tear(tenant)
  const started = performance.now()
  expect((await mend(daemon.client, space.id)).deleted).toBe(ORPHANS)
  const whole = performance.now() - started
  let cut = 0
  for (let round = 0; round < KILLS; round++) {
    const orphans = tear(tenant)
    let ended = false
    const mending = mend(daemon.client, space.id).then(
      () => {
        ended = true
      },
      () => undefined,
    )
    await sleep(random() * whole)
    if (!ended) cut++
    await daemon.kill()
    await mending
    daemon = await startDaemon(home.path)
    await mend(daemon.client, space.id)
    expect(orphans.filter((key) => existsSync(join(home.path, 'objects', key)))).toEqual([])
    expect(live.filter((key) => !existsSync(join(home.path, 'objects', key)))).toEqual([])
    expect(await issues(daemon.client, space.id), `after kill ${round}, seed ${seed}`).toEqual([])
  }
  const findings = await verify(daemon.client, ledger)
  expect(findings).toMatchObject({ acknowledged: FILES, lost: [], half: [], risen: [], stuck: [] })
  process.stdout.write(
    `FIGURE crash-integrity: kills ${KILLS}, in the middle ${cut}, needed objects gone 0, issues left 0, seed ${seed}\n`,
  )
})

/** Creates orphans, and removes artifacts and passages. @returns keys of the orphans */
function tear(tenant: string): string[] {
  const keys = Array.from({ length: ORPHANS }, (_, place) =>
    ObjectStore.key(tenant, `ef${String(place).padStart(62, '0')}`),
  )
  for (const key of keys) {
    const path = join(home.path, 'objects', key)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, 'left behind')
    utimesSync(path, HOURS_AGO, HOURS_AGO)
  }
  sql(home.path, (db) => {
    db.exec("UPDATE versions SET artifact = x'' WHERE key % 3 = 0 AND until_revision IS NULL")
    db.exec("UPDATE nodes SET text = 'wrong' WHERE key % 4 = 0")
  })
  return keys
}

/** Collects and repairs concurrently. */
async function mend(client: Client, id: string): Promise<{ deleted: number }> {
  const repairing = async () => {
    for (const check of CHECKS) await everyPage(client, id, check, true)
  }
  const [collected] = await Promise.all([collect(client, id), repairing()])
  return collected
}

async function collect(client: Client, id: string): Promise<{ deleted: number }> {
  const candidates: GcCandidate[] = []
  let cursor: string | undefined
  do {
    const query = cursor === undefined ? {} : { cursor }
    const page = await client.request('GET /knowledge-spaces/{id}/gc/staged-objects', { path: { id }, query })
    candidates.push(...page.candidates)
    cursor = page.cursor
  } while (cursor !== undefined)
  return client.request('POST /knowledge-spaces/{id}/gc/staged-objects/execute', { path: { id }, body: { candidates } })
}

async function everyPage(client: Client, id: string, check: FsckCheck, repair: boolean): Promise<string[]> {
  const found: string[] = []
  let cursor: string | undefined
  do {
    const place = cursor === undefined ? {} : { cursor }
    if (repair) {
      const body = { check, dryRun: false, types: [...TYPES], ...place }
      cursor = (await client.request('POST /knowledge-spaces/{id}/fsck/repair', { path: { id }, body })).cursor
    } else {
      const query = { check, deep: 'true' as const, ...place }
      const page = await client.request('GET /knowledge-spaces/{id}/fsck', { path: { id }, query })
      found.push(...page.issues.map((issue) => issue.message))
      cursor = page.cursor
    }
  } while (cursor !== undefined)
  return found
}

/** Only the collection removes orphans, so that each object has one remover. */
const TYPES = ['missing-artifact-object', 'segment-hash-mismatch', 'missing-node-target', 'stale-projection'] as const

async function issues(client: Client, id: string): Promise<string[]> {
  const found: string[] = []
  for (const check of CHECKS) found.push(...(await everyPage(client, id, check, false)))
  return found
}

async function objectsOf(client: Client, id: string): Promise<string[]> {
  const page = await client.request('GET /knowledge-spaces/{id}/documents', { path: { id }, query: { limit: 100 } })
  return page.items.map((item) => item.objectKey)
}
