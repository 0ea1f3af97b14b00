import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { GcCandidate } from '../../../../src/contract/gateway/integrity.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { ADA, BOB } from '../../../helpers/engine.js'
import { passages } from '../../../helpers/store.js'
import { DAY_MS, forged, openSmallSpaces, type SmallSpaces, uuid } from './small-space.js'

let small: SmallSpaces
let space: SpaceRow
beforeEach(async () => {
  small = await openSmallSpaces()
  space = small.store.createSpace()
})
afterEach(() => small.store.end())

const collect = (candidates: GcCandidate[], caller = ADA) => small.integrity.gcExecute(caller, space.id, candidates)
const only = () => small.onlyCandidate(space)

describe('expired commits in a garbage collection', () => {
  const statusOf = (id: string) =>
    small.store.rows<{ status: string }>('SELECT status FROM staged_commits WHERE id = ?', id)[0]?.status

  it('appear as candidates when they failed or were canceled', async () => {
    const past = { expires_at: small.clock.now - 1 }
    small.commit(space, uuid(1), { ...past, published_object_key: small.object('a', { ageMs: 0 }), document_id: 'd' })
    small.commit(space, uuid(2), { ...past, status: 'canceled' })
    small.commit(space, uuid(3), { ...past, status: 'failed-retryable' })
    small.commit(space, uuid(4), { status: 'gc-pending', expires_at: small.clock.now + DAY_MS })
    // Without an expiry time the last update counts.
    small.commit(space, uuid(5), { expires_at: null, updated_at: small.clock.now - 1 })
    for (const [place, status] of ['published', 'received', 'gc-complete', 'nodes-built'].entries())
      small.commit(space, uuid(10 + place), { ...past, status })
    small.commit(space, uuid(20), { expires_at: small.clock.now + 60_000 })
    small.commit(space, uuid(21), { status: 'failed-retryable', expires_at: small.clock.now + 60_000 })
    small.commit(small.store.createSpace(), uuid(22), past)
    const { candidates, summary } = await small.integrity.gcDryRun(ADA, space.id, {})
    expect(candidates.map(({ target }) => target.id)).toEqual([1, 2, 3, 4, 5].map(uuid))
    expect(summary).toMatchObject({ candidateCount: 5, failedCommitCount: 5, stagedObjectCount: 0, estimatedBytes: 0 })
    expect(candidates[0]).toMatchObject({
      ...{ candidateType: 'failed-commit', count: 1, estimatedBytes: 0 },
      reason: 'the upload is failed-terminal and has expired',
      target: { type: 'staged-commit', id: uuid(1), objectKey: expect.any(String), documentAssetId: 'd' },
    })
    expect(candidates[1]?.target).toEqual({ type: 'staged-commit', id: uuid(2) })
    expect(await small.issues(space, 'raw-objects')).toMatchObject(
      [1, 2, 3, 4, 5].map((place) => ({
        code: 'failed-commit-expired',
        severity: 'info',
        target: { id: uuid(place) },
      })),
    )
  })

  it('disappear with their bytes, whether they failed, were canceled or wait for their removal', async () => {
    const key = small.object('a', { ageMs: 0 })
    small.commit(space, uuid(1), { published_object_key: key })
    small.temporary(uuid(1), { ageMs: 0 })
    small.commit(space, uuid(2), { status: 'canceled' })
    small.commit(space, uuid(3), { status: 'failed-retryable' })
    small.commit(space, uuid(4), { status: 'gc-pending' })
    const candidates = await small.candidates(space)
    const done = await collect(candidates)
    expect(done).toMatchObject({ deleted: 4, skipped: 0 })
    expect(done.items.map(({ objectKey }) => objectKey)).toEqual([key, uuid(2), uuid(3), uuid(4)])
    expect([1, 2, 3, 4].map((place) => statusOf(uuid(place)))).toEqual(Array(4).fill('gc-complete'))
    expect([small.isThere(key), small.isThere(`tmp/${uuid(1)}`)]).toEqual([false, false])
    expect(small.outcomes()).toEqual(Array(4).fill('deleted'))
    expect(await collect(candidates)).toMatchObject({ deleted: 4 })
  })

  it('leave bytes that a document or another tenant needs, and ignore malformed object keys', async () => {
    await small.publish(space, { 'a.md': 'one' })
    const [{ object_key: key = '' } = {}] = small.store.rows<{ object_key: string }>('SELECT * FROM documents')
    const theirs = small.object('b', { tenant: BOB.tenant })
    for (const [place, published_object_key] of [key, theirs, 'no key'].entries())
      small.commit(space, uuid(place + 1), { published_object_key })
    expect(await collect(await small.candidates(space))).toMatchObject({ deleted: 3 })
    expect([small.isThere(key), small.isThere(theirs)]).toEqual([true, true])
    expect(small.store.logged.filter(({ level }) => level === 'error')).toEqual([])
  })

  it('do not include unexpired, published, foreign and unknown commits, which are skipped', async () => {
    small.commit(space, uuid(1), { expires_at: small.clock.now + 60_000 })
    small.commit(space, uuid(2), { status: 'published' })
    small.commit(small.store.createSpace(), uuid(3))
    const asked = [uuid(1), uuid(2), uuid(3), uuid(99), 'no id', undefined].map((id, place) =>
      forged('failed-commit', { type: 'staged-commit', ...(id === undefined ? {} : { id }) }, `gc-${place}`),
    )
    expect(await collect(asked)).toMatchObject({ deleted: 0, skipped: 6 })
    expect([1, 2, 3].map((place) => statusOf(uuid(place)))).toEqual(['failed-terminal', 'published', 'failed-terminal'])
    expect(small.outcomes()).toEqual([])
  })

  it('stay while their jobs are retried', async () => {
    const [work] = await small.store.uploadAndClaim(space, { 'a.md': 'one' })
    small.store.run(
      "UPDATE staged_commits SET status = 'failed-retryable', resume_status = 'metadata-prepared', expires_at = 1",
    )
    expect(await small.candidates(space)).toEqual([])
    small.store.run('UPDATE jobs SET completed_at = 1, claimed_by = NULL WHERE key = ?', work?.job.key ?? 0)
    expect((await only()).candidateType).toBe('failed-commit')
  })
})

describe('unused build results in a garbage collection', () => {
  /** Turns the published version of a document into an unpublished one. */
  const unpublish = () => small.store.run('UPDATE versions SET from_revision = NULL, artifact_id = ?', uuid(50))
  const bytesOf = (what: string) =>
    small.store.rows<{ n: number }>(`SELECT sum(${what}) n FROM versions`)[0]?.n ?? Number.NaN

  it('include a version that is neither published nor being compiled', async () => {
    await small.publish(space, { 'a.md': passages('one', 'two', 'three') })
    expect(await small.candidates(space)).toEqual([])
    unpublish()
    const [document] = small.store.rows<{ id: string }>('SELECT id FROM documents')
    const candidate = await only()
    expect(candidate).toMatchObject({
      ...{ candidateType: 'parse-artifact', count: 4 },
      estimatedBytes: bytesOf('length(artifact) + length(outline) + length(items)'),
      reason: 'the version was never published and no job works on it',
      target: { type: 'artifact-object', id: uuid(50), parseArtifactId: uuid(50), documentAssetId: document?.id },
    })
    const lease = reading()
    expect(await collect([candidate])).toMatchObject({ deleted: 0 })
    lease.release()
    expect(await collect([candidate])).toMatchObject({ deleted: 1, items: [{ objectKey: uuid(50) }] })
    expect(small.store.rows('SELECT 1 FROM versions UNION ALL SELECT 1 FROM nodes')).toEqual([])
    expect(small.store.indexes.texts(space.id)).toEqual([])
    expect(await collect([candidate])).toMatchObject({ deleted: 1 })
  })

  it('include a version that is requested by its artifact id, but none of another space or with a job', async () => {
    await small.publish(space, { 'a.md': 'one' })
    unpublish()
    const named = forged('parse-artifact', { type: 'artifact-object', parseArtifactId: uuid(50) })
    const byId = forged('parse-artifact', { type: 'artifact-object', id: uuid(50) }, 'gc-2')
    const other = small.store.createSpace()
    expect(await small.integrity.gcExecute(ADA, other.id, [named])).toMatchObject({ deleted: 0 })
    small.store.run('UPDATE jobs SET completed_at = NULL')
    expect(await small.candidates(space)).toEqual([])
    expect(await collect([named])).toMatchObject({ deleted: 0 })
    small.store.run('UPDATE jobs SET completed_at = 1')
    const nameless = forged('parse-artifact', { type: 'artifact-object' }, 'gc-3')
    expect(await collect([nameless, byId])).toMatchObject({
      deleted: 1,
      items: [{ objectKey: 'artifact-object', status: 'skipped-active-lease' }, { objectKey: uuid(50) }],
    })
    expect(small.store.rows('SELECT 1 FROM versions')).toEqual([])
  })

  it('include a passage without a version', async () => {
    await small.publish(space, { 'a.md': passages('one', 'seven') })
    small.store.run("UPDATE nodes SET version_key = 999 WHERE text = 'seven'")
    const candidate = await only()
    const [node] = small.store.rows<{ id: string }>("SELECT id FROM nodes WHERE text = 'seven'")
    expect(candidate).toMatchObject({
      ...{ candidateType: 'artifact-segment', count: 1, estimatedBytes: 5 },
      reason: 'the passage belongs to no version of a document',
      target: { type: 'knowledge-node', id: node?.id },
    })
    const lease = reading()
    expect(await collect([candidate])).toMatchObject({ deleted: 0 })
    lease.release()
    const [whole] = small.store.rows<{ id: string }>("SELECT id FROM nodes WHERE text = 'one'")
    const asked = [whole?.id ?? '', uuid(60)].map((id, place) =>
      forged('artifact-segment', { type: 'knowledge-node', id }, `gc-${place}`),
    )
    expect(await collect(asked)).toMatchObject({ deleted: 0, skipped: 2 })
    expect(await collect([candidate])).toMatchObject({ deleted: 1 })
    expect(small.store.rows('SELECT text FROM nodes')).toEqual([{ text: 'one' }])
    expect(small.store.indexes.texts(space.id)).toEqual(['one'])
    expect(small.outcomes()).toEqual(['deleted'])
  })

  it('include a replaced model with its vectors', async () => {
    const first = small.model(space)
    await small.publish(small.store.reload(space), { 'a.md': passages('one', 'three') })
    const empty = small.model(space)
    const second = small.model(space)
    await small.store.context.lsa.load(first.id, new Uint8Array() as never)
    expect(await small.candidates(space)).toMatchObject([
      {
        ...{ candidateType: 'index-projection', count: 2, estimatedBytes: 2 * first.dimension * 2 },
        reason: 'a newer embedding model has replaced this one',
        target: { type: 'index-projection', id: first.id },
      },
      { count: 1, estimatedBytes: 0, target: { id: empty.id } },
    ])
    const candidates = await small.candidates(space)
    small.store.run("UPDATE vector_spaces SET state = 'building' WHERE key = ?", second.key)
    expect(await small.candidates(space)).toEqual([])
    expect(await collect(candidates)).toMatchObject({ deleted: 0 })
    small.store.run("UPDATE vector_spaces SET state = 'active' WHERE key = ?", second.key)
    const lease = reading()
    expect(await collect(candidates)).toMatchObject({ deleted: 0 })
    lease.release()
    const inUse = forged('index-projection', { type: 'index-projection', id: second.id })
    expect(await collect([...candidates, inUse])).toMatchObject({ deleted: 2, skipped: 1 })
    expect(small.store.rows('SELECT id FROM vector_spaces')).toEqual([{ id: second.id }])
    expect(small.store.rows('SELECT 1 FROM vectors')).toEqual([])
    expect(small.store.context.lsa.has(first.id)).toBe(false)
  })

  it('include a trace older than the retention time', async () => {
    const trace = (id: string, age: number, of = space) =>
      small.store.run(
        `INSERT INTO traces (id, tenant, space_key, subject, query, mode, requested_mode, completed, steps, created_at)
         VALUES (?, ?, ?, 'ada', 'why?', 'fast', 'fast', 1, '[]', ?)`,
        ...[id, of.tenant, of.key, small.clock.now - age * DAY_MS],
      )
    trace(uuid(1), 91)
    trace(uuid(2), 89)
    trace(uuid(3), 91, small.store.createSpace())
    small.store.run(
      'INSERT INTO evidence_bundles (id, tenant, space_key, trace_id, body, created_at) VALUES (?, ?, ?, ?, ?, 1)',
      ...[uuid(8), ADA.tenant, space.key, uuid(1), '{}'],
    )
    const candidate = await only()
    expect(candidate).toMatchObject({
      ...{ candidateType: 'answer-trace', count: 1, estimatedBytes: 'why?[]'.length },
      reason: 'the trace is older than the retention period for traces',
      target: { type: 'knowledge-path', id: uuid(1), virtualPath: `/evidence/${uuid(1)}` },
    })
    const asked = [2, 3, 4].map((end) => forged('answer-trace', { type: 'knowledge-path', id: uuid(end) }, `gc-${end}`))
    expect(await collect([candidate, ...asked])).toMatchObject({ deleted: 1, skipped: 3 })
    expect(small.store.rows('SELECT id FROM traces')).toEqual([{ id: uuid(2) }, { id: uuid(3) }])
    expect(small.store.rows('SELECT id FROM evidence_bundles')).toEqual([])
  })
})

function reading() {
  return small.store.context.leases.acquire({
    ...{ spaceKey: space.key, sessionId: 's', type: 'read', targetType: 'trace', targetId: 't', virtualPath: '/t' },
  })
}
