import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type LeaseRequest, Leases, type ReadLease } from '../../../src/engine/base/leases.js'

const request = (type: LeaseRequest['type'], targetId = 'document', spaceKey = 1) => ({
  spaceKey,
  sessionId: 'session',
  type,
  targetType: 'document',
  targetId,
  virtualPath: `/knowledge/documents/${targetId}`,
})

test('a lease belongs to its space and is active until it is released', () => {
  const leases = new Leases(Date.now)
  const lease = leases.acquire(request('read'))
  leases.acquire(request('read', 'other', 2))
  expect(leases.listBySpace(1)).toEqual([lease])
  expect(leases.listActive()).toHaveLength(2)
  lease.release()
  expect({ status: lease.status, left: leases.listBySpace(1) }).toEqual({ status: 'released', left: [] })
})

test('a lease expires after a minute without a heartbeat and stays expired after a late release', () => {
  let time = 0
  const leases = new Leases(Date.now, () => time)
  const silent = leases.acquire(request('read', 'a'))
  const alive = leases.acquire(request('read', 'b'))
  time = 50_000
  alive.keepAlive()
  time = 60_001
  expect(leases.listBySpace(1)).toEqual([alive])
  expect(silent.status).toBe('expired')
  silent.release()
  expect(silent.status).toBe('expired')
  alive.release()
})

test('the fences of leases rise by one with each lease, and a released lease is listed no more', () => {
  const type = fc.constantFrom<LeaseRequest['type']>('read', 'delete')
  fc.assert(
    fc.property(fc.array(fc.tuple(type, fc.constantFrom('a', 'b'), fc.boolean())), (steps) => {
      const leases = new Leases(Date.now)
      const taken: ReadLease[] = []
      for (const [kind, target, release] of steps) {
        taken.push(leases.acquire(request(kind, target)))
        if (release) taken.find(({ status }) => status === 'active')?.release()
        expect(leases.listBySpace(1)).toEqual(taken.filter(({ status }) => status === 'active'))
      }
      expect(taken.map((lease) => lease.fence)).toEqual(taken.map((_, place) => place + 1))
    }),
  )
})
