import { describe, expect, test } from 'vitest'
import { computeTimeSpread } from '../../../../src/engine/answers/research/history.js'

describe('the estimated duration of the next research task', () => {
  test('gets a smaller spread with each finished task of the same duration', () => {
    const ratios = [1, 5, 50].map((count) => {
      const { p50, p95 } = computeTimeSpread(Array.from({ length: count }, () => 800))
      expect(p50).toBeCloseTo(800)
      return p95 / p50
    })
    expect(ratios[0]).toBeGreaterThan(ratios[1] ?? 0)
    expect(ratios[1]).toBeGreaterThan(ratios[2] ?? 0)
    expect(ratios[2]).toBeGreaterThan(1.1)
  })

  test('gets a wider spread if the durations of finished tasks vary more', () => {
    const even = computeTimeSpread([700, 800, 900, 800, 700, 900])
    const uneven = computeTimeSpread([100, 6400, 100, 6400, 100, 6400])
    expect(uneven.p50).toBeCloseTo(800)
    expect(uneven.p95 / uneven.p50).toBeGreaterThan(3 * (even.p95 / even.p50))
  })
})
