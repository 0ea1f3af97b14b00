import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { removeFolder } from '../../../../bench/lib/removed-folder.js'
import { Database } from '../../../../src/engine/store/database.js'
import { sql, type Write } from '../../../../src/engine/store/program.js'
import {
  isGatewayRegistered,
  recordHeartbeat,
  removeEarlierLockHolders,
  removeGateway,
  removeLostGateways,
} from '../../../../src/engine/store/rows/gateways.js'
import {
  claimJobs,
  countCompilingJobs,
  countValidClaims,
  listDueJobs,
  releaseClaims,
  releaseJob,
  releaseOrphanedJobs,
} from '../../../../src/engine/store/rows/job-claims.js'
import { isClaimValid, type JobRow, moveJob } from '../../../../src/engine/store/rows/jobs.js'
import { claimTask } from '../../../../src/engine/store/rows/research/claims.js'
import { claimSync, endSync } from '../../../../src/engine/store/rows/source-syncs.js'
import { newId } from '../../../../src/lib/ids.js'

const dir = mkdtempSync(join(tmpdir(), 'ks-claims-'))
/** Two gateways on one database. */
let gateways: { id: string; db: Database }[]
const JOBS = 12

beforeAll(() => {
  gateways = ['one', 'two'].map((id) => ({ id, db: new Database(join(dir, 'main.sqlite'), Date.now) }))
  one().writeNow(function* () {
    yield* sql.run(
      `INSERT INTO spaces (id, tenant, name, slug, created_at, updated_at, manifest_id, manifest, embedding_plugin, embedding_provider,
         embedding_model, vector_space, publication_id, fingerprint, published_at)
       VALUES (?, 't', 'S', 's', 1, 1, ?, '{}', 'p', 'p', 'm', ?, ?, 'f', 1)`,
      [newId(), newId(), newId(), newId()],
    )
  })
})
beforeEach(() => {
  one().writeNow(function* () {
    for (const table of ['jobs', 'gateways', 'research_tasks', 'sources']) yield* sql.run(`DELETE FROM ${table}`)
    for (let doc = 1; doc <= JOBS; doc++) yield* addJob(doc)
    for (const { id } of gateways) yield* recordHeartbeat(id, undefined)
  })
})
afterAll(async () => {
  for (const { db } of gateways) await db.close()
  removeFolder(dir)
})

const one = () => gateways[0]!.db

function* addJob(doc: number): Write<void> {
  yield* sql.run(
    `INSERT INTO jobs (id, queue_id, tenant, space_key, doc_key, version, stage, created_at, updated_at)
     VALUES (?, ?, 't', 1, ?, 1, 'queued', 1, 1)`,
    [newId(), newId(), doc],
  )
}

const due = () => one().now(listDueJobs(1, { now: Date.now(), latest: Date.now() }, JOBS))
const keysOf = (jobs: readonly JobRow[]) => jobs.map(({ key }) => key)

test('two gateways that claim the same jobs get disjoint sets, in any order', () => {
  const seen = due()
  const sets = fc.array(fc.tuple(fc.constantFrom(0, 1), fc.subarray(seen)), { maxLength: 8 })
  fc.assert(
    fc.property(sets, (claims) => {
      const held = new Map<number, string>()
      for (const [which, wanted] of claims) {
        const { id, db } = gateways[which]!
        const got = db.writeNow(() => claimJobs(wanted, id))
        expect(keysOf(got).sort()).toEqual(keysOf(wanted.filter(({ key }) => !held.has(key))).sort())
        for (const { key, claimed_by } of got) {
          expect(claimed_by).toBe(id)
          held.set(key, id)
        }
      }
      expect(one().now(countCompilingJobs(1))).toBe(held.size)
      for (const { id, db } of gateways) {
        const jobs = db.now(sql.all<JobRow>('SELECT * FROM jobs WHERE claimed_by = ?', [id]))
        expect(keysOf(jobs).sort()).toEqual([...held].flatMap(([key, by]) => (by === id ? [key] : [])).sort())
        db.writeNow(() => releaseClaims(id, jobs))
      }
      expect(one().now(countCompilingJobs(1))).toBe(0)
    }),
    { numRuns: 50 },
  )
})

test('an earlier claim on a job that was claimed again cannot move or free the job, even in the same gateway', () => {
  const db = one()
  const [job] = due()
  const [early] = db.writeNow(() => claimJobs([job!], 'one'))
  expect(db.writeNow(() => releaseJob(early!, 0))).toBe(true)
  const [late] = db.writeNow(() => claimJobs([job!], 'one'))
  expect([early?.fence, late?.fence]).toEqual([1, 2])
  expect(db.now(isClaimValid(early!))).toBe(false)
  expect(db.writeNow(() => moveJob(early!.id, 'queued', 'parsed', { claim: early! }))).toBe(false)
  expect(db.writeNow(() => releaseJob(early!, 0))).toBe(false)
  expect(db.now(countValidClaims('one', [early!]))).toBe(0)
  db.writeNow(() => releaseClaims('one', [early!]))
  expect(db.now(isClaimValid(late!))).toBe(true)
  expect(db.writeNow(() => moveJob(late!.id, 'queued', 'parsed', { claim: late! }))).toBe(true)
})

test('a gateway counts as dead without a row, with a heartbeat a minute off, or after another took its lock', () => {
  const db = one()
  const claimBy = (gateway: string) => db.writeNow(() => claimJobs(due().slice(0, 1), gateway))[0]!.key
  const age = (id: string, ms: number) =>
    db.writeNow(() => sql.run('UPDATE gateways SET beat_at = beat_at - ? WHERE id = ?', [ms, id]))
  const live = claimBy('two')
  const gone = [claimBy('never there')]
  for (const [id, lock] of [
    ['silent', undefined],
    ['ahead', undefined],
    ['before', 'lock'],
    ['copied', 'another lock'],
    ['nearly', undefined],
  ] as const)
    db.writeNow(() => recordHeartbeat(id, lock))
  age('silent', 61_000)
  age('ahead', -61_000)
  age('nearly', 50_000)
  gone.push(claimBy('silent'), claimBy('ahead'), claimBy('before'))
  const kept = [live, claimBy('copied'), claimBy('nearly'), claimBy('one')]
  // A gateway that slept finds its own row old, but never declares itself dead.
  age('one', 100_000)
  const freed = db.writeNow(function* () {
    yield* removeEarlierLockHolders('one', 'lock')
    yield* recordHeartbeat('one', 'lock')
    yield* removeLostGateways('one')
    return yield* releaseOrphanedJobs()
  })
  expect(keysOf(freed).sort()).toEqual(gone.sort())
  const left = db.now(sql.all<JobRow>('SELECT * FROM jobs WHERE claimed_by IS NOT NULL ORDER BY key'))
  expect(keysOf(left)).toEqual(kept.sort((a, b) => a - b))
  expect(freed.every(({ unclean_ends, claimed_by }) => unclean_ends === 1 && claimed_by === null)).toBe(true)
  db.writeNow(() => removeGateway('two'))
  expect(db.now(isGatewayRegistered('two'))).toBe(false)
  expect(keysOf(db.writeNow(() => releaseOrphanedJobs()))).toEqual([live])
})

test('a research task is claimed by one gateway, the longest due first', () => {
  one().writeNow(function* () {
    for (const runAfter of [2, 1])
      yield* sql.run(
        `INSERT INTO research_tasks (id, tenant, subject, space_key, queue_id, query, mode, route, snapshot, profile, stage,
           run_after, created_at, updated_at) VALUES (?, 't', 's', 1, ?, 'x', 'fast', '{}', '{}', '{}', 'queued', ?, 1, 1)`,
        [newId(), newId(), runAfter],
      )
  })
  const got = [0, 1, 0].map((which) => gateways[which]!.db.writeNow(() => claimTask(0, gateways[which]!.id, 5)))
  expect(got.map((task) => task?.claimed_by)).toEqual(['one', 'two', undefined])
  expect(got[0]?.id).not.toBe(got[1]?.id)
})

test('the sync of a source is claimed by one gateway, and only the claim of that gateway can end it', () => {
  const id = newId()
  const source = { tenant: 't', id }
  const row = () => one().now(sql.get<Record<string, unknown>>('SELECT * FROM sources'))
  one().writeNow(() =>
    sql.run(
      `INSERT INTO sources (id, tenant, space_key, name, type, uri, status, permission_scope, metadata, version, created_at, updated_at)
       VALUES (?, 't', 1, 'S', 'web', 'http://x/', 'active', '[]', '{}', 1, 1, 1)`,
      [id],
    ),
  )
  const claim = one().writeNow(() => claimSync(source, 'one', null, 2))
  expect(claim).toEqual({ gateway: 'one', fence: 1 })
  expect(gateways[1]!.db.writeNow(() => claimSync(source, 'two', null, 2))).toBeUndefined()
  one().writeNow(() => endSync(source, { gateway: 'two', fence: 1 }, {}, 3))
  one().writeNow(() => endSync(source, { gateway: 'one', fence: 0 }, {}, 3))
  expect(row()).toMatchObject({ status: 'syncing', claimed_by: 'one' })
  one().writeNow(() => endSync(source, claim!, {}, 3))
  expect(row()).toMatchObject({ status: 'active', claimed_by: null, sync_started_at: null, last_sync_at: 3 })
})
