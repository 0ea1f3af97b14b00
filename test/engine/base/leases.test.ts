import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Lease, Leases, type LeaseType } from '../../../src/engine/base/leases.js'

const request = (type: LeaseType, targetId = 'document', spaceKey = 1) => ({
  spaceKey,
  sessionId: 'session',
  type,
  targetType: 'document',
  targetId,
  virtualPath: `/knowledge/documents/${targetId}`,
})

test('a lease is active until it is released, and belongs to its space', () => {
  const leases = new Leases()
  const lease = leases.acquire(request('read'))
  leases.acquire(request('read', 'other', 2))
  expect(leases.of(1)).toEqual([lease])
  expect(leases.isRead(1)).toBe(true)
  expect(leases.holds(1, ['document'])).toBe(true)
  expect(leases.holds(1, ['/knowledge/documents/document'])).toBe(true)
  expect(leases.holds(1, ['other', undefined])).toBe(false)
  lease.release()
  expect({ status: lease.status, left: leases.of(1) }).toEqual({ status: 'released', left: [] })
})

test('a lease without a heartbeat for a minute has expired, whatever its holder does later', () => {
  let time = 0
  const leases = new Leases(() => time)
  const silent = leases.acquire(request('reindex', 'a'))
  const alive = leases.acquire(request('reindex', 'b'))
  time = 50_000
  alive.keepAlive()
  time = 60_001
  expect(leases.isCurrent(silent)).toBe(false)
  expect(leases.isCurrent(alive)).toBe(true)
  expect(silent.status).toBe('expired')
  silent.release()
  expect(silent.status).toBe('expired')
  alive.release()
})

test('a deletion fences out who publishes or compiles the same document, and nobody else', () => {
  const leases = new Leases()
  const before = (['publish', 'reindex', 'read'] as const).map((type) => leases.acquire(request(type, type)))
  const held = [leases.acquire(request('publish')), leases.acquire(request('read'))]
  const deletion = leases.acquire(request('delete'))
  expect(held.map((lease) => lease.status)).toEqual(['failed', 'active'])
  expect(before.every((lease) => leases.isCurrent(lease))).toBe(true)
  expect(leases.isCurrent(deletion)).toBe(true)
})

test('fences only rise, and never do two writers of one document hold current leases', () => {
  const type = fc.constantFrom<LeaseType>('read', 'publish', 'reindex', 'delete')
  fc.assert(
    fc.property(fc.array(fc.tuple(type, fc.constantFrom('a', 'b'), fc.boolean())), (steps) => {
      const leases = new Leases()
      const taken: Lease[] = []
      for (const [kind, target, release] of steps) {
        taken.push(leases.acquire(request(kind, target)))
        if (release) taken.find((lease) => leases.isCurrent(lease))?.release()
        for (const place of ['a', 'b'])
          for (const one of ['publish', 'reindex', 'delete'])
            expect(leases.of(1).filter((lease) => lease.targetId === place && lease.type === one).length).toBeLessThan(
              2,
            )
      }
      expect(taken.map((lease) => lease.fence)).toEqual(taken.map((_, place) => place + 1))
    }),
  )
})
