import { describe, expect, it } from 'vitest'
import { Leases } from '../../../src/engine/base/leases.js'
import { EngineMetrics } from '../../../src/engine/base/metrics.js'
import { Durations } from '../../../src/lib/durations.js'

describe('durations', () => {
  it('count in every bucket whose upper bound they do not exceed, and in the total if they exceed all bounds', () => {
    const durations = new Durations([0.1, 1, 10])
    for (const seconds of [0, 0.1, 0.5, 1, 9, 100]) durations.record(seconds)
    expect(durations.counts()).toEqual({
      count: 6,
      totalSeconds: 110.6,
      buckets: [
        { maxSeconds: 0.1, calls: 2 },
        { maxSeconds: 1, calls: 4 },
        { maxSeconds: 10, calls: 5 },
      ],
    })
  })
})

describe('service metrics', () => {
  it('count an answer once for each distinct part and class of degradation', () => {
    const measures = new EngineMetrics()
    const failed = { part: 'embedding', class: 'timeout', reason: 'a question of somebody' } as const
    measures.recordAnswer([])
    measures.recordAnswer([failed, { ...failed, reason: 'another' }, { ...failed, class: 'auth' }])
    expect(measures.getAnswerCounts()).toEqual({
      all: 2,
      degraded: [
        { part: 'embedding', class: 'timeout', answers: 1 },
        { part: 'embedding', class: 'auth', answers: 1 },
      ],
    })
  })

  it('count a job claim but add no waiting time when the clock was set back', () => {
    const measures = new EngineMetrics()
    measures.recordClaim(-5000)
    measures.recordClaim(2000)
    expect(measures.getClaimWaits()).toMatchObject({ count: 2, totalSeconds: 2 })
  })

  it('count active leases, and those that expired without a release', () => {
    let now = 0
    const leases = new Leases(Date.now, () => now)
    const lease = (type: 'read' | 'delete') =>
      leases.acquire({ spaceKey: 1, sessionId: 's', type, targetType: 't', targetId: 'i', virtualPath: 'p' })
    lease('read')
    lease('read').release()
    lease('delete')
    expect(leases.counts()).toEqual({
      active: new Map([
        ['read', 1],
        ['delete', 1],
      ]),
      expired: 0,
    })
    now = 61_000
    expect(leases.counts()).toEqual({ active: new Map(), expired: 2 })
  })
})
