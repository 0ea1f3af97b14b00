import { afterEach, beforeEach, expect, it } from 'vitest'
import { encodeCursor, hashFilter } from '../../../../src/engine/base/cursor.js'
import { LEASE_LIFETIME_MS } from '../../../../src/engine/base/leases.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { isCompiling, listVisibleLeases } from '../../../../src/engine/upkeep/integrity/lease-list.js'
import { ADA, BOB } from '../../../helpers/engine.js'
import { openSmallSpaces, type SmallSpaces, uuid } from './small-space.js'

const EVE = { tenant: ADA.tenant, subject: 'eve' }

let small: SmallSpaces
let space: SpaceRow
beforeEach(async () => {
  small = await openSmallSpaces()
  space = small.store.createSpace()
})
afterEach(() => small.store.end())

const list = (page = {}, caller = ADA) => small.integrity.leases(caller, space.id, { limit: 100, ...page })

function reading(id: string, of = space) {
  return small.store.context.leases.acquire({
    ...{ id, spaceKey: of.key, sessionId: 'session', type: 'read', targetType: 'trace' },
    ...{ targetId: `trace of ${id}`, virtualPath: `/evidence/${id}` },
  })
}

it('a lease of this process is listed until it is released', async () => {
  const lease = reading(uuid(1))
  reading(uuid(2), small.store.createSpace())
  const heartbeatAt = new Date(lease.heartbeatAt).toISOString()
  expect(await list()).toEqual({
    items: [
      {
        ...{ id: uuid(1), knowledgeSpaceId: space.id, tenantId: ADA.tenant, sessionId: 'session' },
        ...{ leaseType: 'read', status: 'active', targetType: 'trace', targetId: `trace of ${uuid(1)}` },
        ...{ virtualPath: `/evidence/${uuid(1)}`, metadata: { fence: lease.fence } },
        ...{ acquiredAt: new Date(lease.acquiredAt).toISOString(), heartbeatAt, updatedAt: heartbeatAt },
        expiresAt: new Date(lease.heartbeatAt + LEASE_LIFETIME_MS).toISOString(),
      },
    ],
  })
  lease.release()
  expect(await list()).toEqual({ items: [] })
  await expect(list({}, BOB)).rejects.toMatchObject({ code: 'not-found' })
})

it('a document that is being compiled has a lease from the row of its job, with the heartbeat of the gateway', async () => {
  const [work] = await small.store.uploadAndClaim(space, { 'a.md': 'one' })
  small.store.run('UPDATE jobs SET claimed_at = 5000, fence = 3')
  small.store.run('UPDATE gateways SET beat_at = 9000')
  const { id = '' } = work?.document ?? {}
  const expected = {
    ...{ id: work?.job.id, knowledgeSpaceId: space.id, tenantId: ADA.tenant, sessionId: work?.job.id },
    ...{ leaseType: 'publish', status: 'active', targetType: 'document', targetId: id, targetVersion: 1 },
    ...{ virtualPath: `/knowledge/documents/${id}`, metadata: { fence: 3 }, acquiredAt: new Date(5000).toISOString() },
    ...{ heartbeatAt: new Date(9000).toISOString(), updatedAt: new Date(9000).toISOString() },
    expiresAt: new Date(9000 + LEASE_LIFETIME_MS).toISOString(),
  }
  expect((await list()).items).toEqual([expected])
  // The claim is newer than the last heartbeat, or the gateway is gone.
  small.store.run('UPDATE gateways SET beat_at = 4000')
  expect((await list()).items).toMatchObject([{ heartbeatAt: new Date(5000).toISOString() }])
  small.store.run('DELETE FROM gateways')
  expect((await list()).items).toMatchObject([{ heartbeatAt: new Date(5000).toISOString() }])
  small.store.run('UPDATE jobs SET claimed_at = NULL, updated_at = 7000, version = 2')
  expect((await list()).items).toMatchObject([
    { acquiredAt: new Date(7000).toISOString(), leaseType: 'reindex', targetVersion: 2 },
  ])
  small.store.run('UPDATE jobs SET claimed_by = NULL')
  expect((await list()).items).toEqual([])
})

it('leases are listed page by page in the order of their ids', async () => {
  for (const end of [3, 1, 2, 5, 4]) reading(uuid(end))
  const first = await list({ limit: 2 })
  expect(first.items.map(({ id }) => id)).toEqual([uuid(1), uuid(2)])
  const second = await list({ limit: 2, cursor: first.nextCursor })
  expect(second.items.map(({ id }) => id)).toEqual([uuid(3), uuid(4)])
  const third = await list({ limit: 2, cursor: second.nextCursor })
  expect(third).toMatchObject({ items: [{ id: uuid(5) }] })
  expect(third.nextCursor).toBeUndefined()
  expect((await list({ limit: 5 })).nextCursor).toBeUndefined()
  expect((await list({ limit: 4 })).nextCursor).toBeDefined()
})

it('the list of leases rejects a cursor of another space and a malformed cursor', async () => {
  for (const end of [1, 2]) reading(uuid(end))
  const { nextCursor } = await list({ limit: 1 })
  const other = small.store.createSpace()
  await expect(small.integrity.leases(ADA, other.id, { limit: 1, cursor: nextCursor })).rejects.toMatchObject({
    code: 'invalid-cursor',
  })
  const noId = encodeCursor({ after: [7] }, hashFilter('leases', space.id))
  for (const cursor of ['x', noId]) await expect(list({ cursor })).rejects.toMatchObject({ code: 'invalid-cursor' })
})

it('a page lists at most a thousand leases', async () => {
  for (let end = 0; end < 1002; end++) reading(uuid(end))
  const { items, nextCursor } = await list({ limit: 5000 })
  expect(items).toHaveLength(1000)
  expect((await list({ limit: 5000, cursor: nextCursor })).items).toHaveLength(2)
})

it('a lease on a document is listed for readers of the document only, another lease for every caller', async () => {
  small.restrict(space, 'secret', 'ada')
  const [first, second] = await small.store.uploadAndClaim(space, { 'a.md': 'one', 'b.md': 'two' })
  small.store.run('UPDATE documents SET source_id = ? WHERE id = ?', 'secret', first?.document.id ?? '')
  const lease = reading(uuid(1))
  const ids = async (caller = ADA) => new Set((await list({}, caller)).items.map(({ id }) => id))
  expect(await ids()).toEqual(new Set([lease.id, first?.job.id, second?.job.id]))
  expect(await ids(EVE)).toEqual(new Set([lease.id, second?.job.id]))
})

it('the engine sorts all leases of a space by age, those of running jobs included', async () => {
  const [work] = await small.store.uploadAndClaim(space, { 'a.md': 'one' })
  small.store.run('UPDATE jobs SET claimed_at = ?', Date.now() + 60_000)
  const lease = reading('zzz')
  const known = () => small.store.db.now(listVisibleLeases(small.store.context, ADA, space.key)).map(({ id }) => id)
  expect(known()).toEqual([lease.id, work?.job.id])
  small.store.run('UPDATE jobs SET claimed_at = 1')
  expect(known()).toEqual([work?.job.id, lease.id])
  lease.release()
  expect(known()).toEqual([work?.job.id])
})

it('a running compilation is found by the id and by the path of its document', async () => {
  const [work] = await small.store.uploadAndClaim(space, { 'a.md': 'one' })
  const id = work?.document.id ?? ''
  const holds = (...names: (string | undefined)[]) => small.store.db.now(isCompiling(space.key, names))
  expect([holds(id), holds(undefined, `/knowledge/documents/${id}`), holds('other', id)]).toEqual([true, true, true])
  expect([holds(), holds('other'), holds(undefined)]).toEqual([false, false, false])
  expect(small.store.db.now(isCompiling(space.key + 1, [id]))).toBe(false)
})
