import { rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { GcCandidate } from '../../../../src/contract/gateway/integrity.js'
import { ObjectStore } from '../../../../src/engine/store/objects.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { resolveDataLayout } from '../../../../src/local/layout.js'
import { ADA, BOB } from '../../../helpers/engine.js'
import { DAY_MS, forged, HOUR_MS, openSmallSpaces, type SmallSpaces, uuid } from './small-space.js'

let small: SmallSpaces
let space: SpaceRow
beforeEach(async () => {
  small = await openSmallSpaces()
  space = small.store.createSpace()
})
afterEach(() => small.store.end())

const collect = (candidates: GcCandidate[], caller = ADA) => small.integrity.gcExecute(caller, space.id, candidates)
const only = () => small.onlyCandidate(space)

describe('unreferenced bytes in a garbage collection', () => {
  it('appear as candidates with their size, and are counted', async () => {
    const key = small.object('a', { bytes: 'four' })
    const report = await small.integrity.gcDryRun(ADA, space.id, {})
    expect(report).toMatchObject({
      knowledgeSpaceId: space.id,
      tenantId: ADA.tenant,
      generatedAt: new Date(small.clock.now).toISOString(),
      summary: { candidateCount: 1, stagedObjectCount: 1, failedCommitCount: 0, estimatedBytes: 4 },
    })
    expect(report.candidates).toEqual([
      {
        candidateType: 'staged-object',
        count: 1,
        estimatedBytes: 4,
        idempotencyKey: expect.stringMatching(/^gc-[0-9a-f]{32}$/),
        reason: 'no document and no running upload refers to these bytes',
        target: { type: 'raw-object', objectKey: key },
      },
    ])
    expect(await small.candidates(space)).toEqual(report.candidates)
  })

  it('exclude files that are young, foreign or referenced, and files of other tenants or spaces', async () => {
    small.object('a', { ageMs: HOUR_MS - 60_000 })
    writeFileSync(small.pathOf(`${ObjectStore.prefix(ADA.tenant)}note`), 'mine')
    small.object('b', { tenant: BOB.tenant })
    await small.publish(space, { 'a.md': 'one' })
    const [{ object_key: named = '' } = {}] = small.store.rows<{ object_key: string }>('SELECT * FROM documents')
    const old = new Date(small.clock.now - DAY_MS)
    utimesSync(small.pathOf(named), old, old)
    expect(await small.candidates(space)).toEqual([])
    const orphan = small.object('c')
    const second = small.store.createSpace()
    expect(await small.candidates(second)).toEqual([])
    expect((await only()).target.objectKey).toBe(orphan)
    // The space of the last upload of these bytes lists them, not the oldest space.
    small.commit(second, uuid(1), { published_object_key: orphan, status: 'published' })
    expect(await small.candidates(space)).toEqual([])
    expect((await small.candidates(second)).map(({ target }) => target.objectKey)).toEqual([orphan])
  })

  it('disappear with the row of the object, and the same idempotency key gets the same result afterwards', async () => {
    const key = small.object('a')
    small.store.run(
      "INSERT INTO objects (tenant, sha256, state, life, touched_at) VALUES (?, ?, 'live', 'a life', 1)",
      ...[ADA.tenant, key.slice(-64)],
    )
    const candidate = await only()
    const expected = {
      tenantId: ADA.tenant,
      ...{ deleted: 1, skipped: 0 },
      items: [{ objectKey: key, idempotencyKey: candidate.idempotencyKey, status: 'deleted' }],
    }
    expect(await collect([candidate])).toEqual(expected)
    expect(small.isThere(key)).toBe(false)
    expect(small.store.rows('SELECT 1 FROM objects')).toEqual([])
    expect(small.outcomes()).toEqual(['deleted'])
    // New bytes under the same hash make a new candidate.
    small.object('a')
    expect(await collect([candidate])).toEqual(expected)
    expect(small.isThere(key)).toBe(true)
    expect((await only()).idempotencyKey).not.toBe(candidate.idempotencyKey)
  })

  it('stay when a document or a running upload came to reference them', async () => {
    const key = small.object('a')
    const candidate = await only()
    small.commit(space, uuid(1), { status: 'object-verified', published_object_key: key })
    expect(await collect([candidate])).toMatchObject({ deleted: 0, skipped: 1 })
    expect(small.isThere(key)).toBe(true)
    expect(small.outcomes()).toEqual([])
    small.store.run('DELETE FROM staged_commits')
    expect(await collect([candidate])).toMatchObject({ deleted: 1 })
  })

  it('stay during a backup without a recorded result, and can be collected afterwards', async () => {
    const key = small.object('a')
    const candidate = await only()
    const pin = join(resolveDataLayout(small.store.dataDir).objects, 'being-copied')
    writeFileSync(pin, '')
    expect(await collect([candidate])).toMatchObject({ items: [{ status: 'skipped-active-lease' }] })
    expect(small.isThere(key)).toBe(true)
    expect(small.outcomes()).toEqual([])
    rmSync(pin)
    expect(await collect([candidate])).toMatchObject({ items: [{ status: 'deleted' }] })
    expect(small.isThere(key)).toBe(false)
  })

  it('stay when the database may not know all objects', async () => {
    const key = small.object('a')
    const candidate = await only()
    writeFileSync(resolveDataLayout(small.store.dataDir).keepUnknown, 'it is from a backup')
    expect(await small.candidates(space)).toEqual([])
    expect(await collect([candidate])).toMatchObject({ deleted: 0 })
    expect(small.isThere(key)).toBe(true)
  })

  it('count as deleted when an interrupted removal is repeated, and not when no removal had begun', async () => {
    const key = small.object('a')
    const candidate = await only()
    const sha256 = key.slice(-64)
    rmSync(small.pathOf(key))
    expect(await collect([candidate])).toMatchObject({ deleted: 0 })
    small.store.run(
      `INSERT INTO gc_outcomes VALUES (?, ?, ?, 'deleting', ?, 1)`,
      ...[space.key, candidate.idempotencyKey],
      ...[JSON.stringify(['raw-object', null, key, null, null, null]), key],
    )
    expect(await collect([candidate])).toMatchObject({ deleted: 1 })
    expect(small.outcomes()).toEqual(['deleted'])
    // An unreferenced row without bytes expires by its own age.
    small.store.run(
      "INSERT INTO objects (tenant, sha256, state, life, touched_at) VALUES (?, ?, 'live', 'a life', ?)",
      ...[ADA.tenant, sha256, small.clock.now - 2 * HOUR_MS],
    )
    const rest = forged('staged-object', { type: 'raw-object', objectKey: key })
    expect(await collect([rest])).toMatchObject({ deleted: 1 })
    expect(small.store.rows('SELECT 1 FROM objects')).toEqual([])
  })

  it('stay untouched when the object key is foreign, malformed or missing', async () => {
    const theirs = small.object('b', { tenant: BOB.tenant })
    const wrong = [theirs, 'sha256/x', '../main.sqlite'].map((objectKey, place) =>
      forged('staged-object', { type: 'raw-object', objectKey }, `gc-${place}`),
    )
    const nameless = forged('staged-object', { type: 'raw-object' }, 'gc-nameless')
    const done = await collect([...wrong, nameless])
    expect(done).toMatchObject({ deleted: 0, skipped: 4 })
    expect(done.items.map(({ objectKey }) => objectKey)).toEqual([theirs, 'sha256/x', '../main.sqlite', 'raw-object'])
    expect(small.isThere(theirs)).toBe(true)
  })

  it('can be filtered by a key prefix', async () => {
    const keys = [small.object('a'), small.object('b')]
    small.commit(space, uuid(1))
    const of = async (stagedObjectPrefix: string) =>
      (await small.integrity.gcDryRun(ADA, space.id, { stagedObjectPrefix })).candidates.map(
        ({ target }) => target.objectKey,
      )
    expect(await of(keys[1] ?? '')).toEqual([keys[1]])
    expect(await of(ObjectStore.prefix(ADA.tenant))).toEqual(keys)
    expect(await of('zz')).toEqual([])
  })

  it('leave a recorded result of their removal for a month', async () => {
    small.object('a')
    await collect(await small.candidates(space))
    small.clock.now += 29 * DAY_MS
    small.object('b')
    await collect(await small.candidates(space))
    expect(small.outcomes()).toEqual(['deleted', 'deleted'])
    small.clock.now += 2 * DAY_MS
    small.object('c')
    await collect(await small.candidates(space))
    expect(small.outcomes()).toEqual(['deleted', 'deleted'])
  })
})

describe('temporary files in a garbage collection', () => {
  const id = uuid(7)

  it('left by an ended upload are listed and removed', async () => {
    small.temporary(id, { bytes: 'half' })
    small.commit(space, id, { expires_at: small.clock.now + DAY_MS })
    const candidate = await only()
    expect(candidate).toMatchObject({
      candidateType: 'staged-object',
      estimatedBytes: 4,
      reason: 'an upload that ended left this temporary file',
      target: { type: 'raw-object', id, objectKey: `tmp/${id}` },
    })
    expect((await small.integrity.gcDryRun(ADA, space.id, { stagedObjectPrefix: 'tmp/' })).candidates).toEqual([
      candidate,
    ])
    expect(await collect([candidate])).toMatchObject({ deleted: 1, items: [{ objectKey: `tmp/${id}` }] })
    expect(small.isThere(`tmp/${id}`)).toBe(false)
    expect(await collect([candidate])).toMatchObject({ deleted: 1 })
    expect(await small.candidates(space)).toEqual([])
  })

  it.each([
    ['files of a running upload', () => small.commit(space, id, { status: 'object-staged' }), {}],
    ['files of a just received upload', () => small.commit(space, id, { status: 'received' }), {}],
    ['young files', () => small.commit(space, id, { expires_at: small.clock.now + DAY_MS }), { ageMs: 60_000 }],
    [
      'files of another space',
      () => small.commit(small.store.createSpace(), id, { expires_at: small.clock.now + DAY_MS }),
      {},
    ],
    ['files without an upload', () => undefined, {}],
  ])('stay even on explicit request: %s', async (_, prepare, how) => {
    small.temporary(id, how)
    prepare()
    expect(await small.candidates(space)).toEqual([])
    const asked = forged('staged-object', { type: 'raw-object', objectKey: `tmp/${id}` })
    expect(await collect([asked])).toMatchObject({ deleted: 0 })
    expect(small.isThere(`tmp/${id}`)).toBe(true)
    expect(small.outcomes()).toEqual([])
  })

  it('that do not exist count as deleted only when their removal had begun', async () => {
    const asked = forged('staged-object', { type: 'raw-object', objectKey: `tmp/${id}` })
    expect(await collect([asked])).toMatchObject({ deleted: 0 })
    small.store.run(
      "INSERT INTO gc_outcomes VALUES (?, 'gc-forged', ?, 'deleting', ?, 1)",
      ...[space.key, JSON.stringify(['raw-object', null, `tmp/${id}`, null, null, null]), `tmp/${id}`],
    )
    expect(await collect([asked])).toMatchObject({ deleted: 1 })
  })
})
