import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fuse, scaleMinMax } from '../../../../src/engine/retrieval/query/fuse.js'
import type { SearchHit } from '../../../../src/engine/search/ports.js'

describe('the fusion of text hits and vector hits', () => {
  it('scales scores to 0…1, and counts missing scores as 0', () => {
    expect(scaleMinMax([2, 4, 3, undefined])).toEqual([0, 1, 0.5, 0])
    expect(scaleMinMax([5, 5])).toEqual([1, 1])
    expect(scaleMinMax([])).toEqual([])
  })

  it('gives text scores three quarters of the weight', () => {
    const fused = fuse([
      { key: 1, bm25: 10, cosine: 0 },
      { key: 2, bm25: 0, cosine: 1 },
    ])
    expect(fused.map(({ key, fused }) => [key, fused])).toEqual([
      [1, 0.75],
      [2, 0.25],
    ])
  })

  it('ranks the last text hit above a hit that was found only by vector', () => {
    const fused = fuse([
      { key: 1, bm25: 10, cosine: 0.5 },
      { key: 2, bm25: 8, cosine: 0.5 },
      { key: 3, cosine: 0.5 },
    ])
    expect(fused.map(({ key }) => key)).toEqual([1, 2, 3])
    expect(fused[1]!.fused).toBeGreaterThan(fused[2]!.fused + 0.5)
  })

  it('ranks by text or by vector alone if there are no scores of the other kind', () => {
    expect(
      fuse([
        { key: 1, bm25: 1 },
        { key: 2, bm25: 3 },
      ]).map(({ key }) => key),
    ).toEqual([2, 1])
    expect(
      fuse([
        { key: 1, cosine: 0.1 },
        { key: 2, cosine: 0.3 },
      ]).map(({ key }) => key),
    ).toEqual([2, 1])
    expect(fuse([])).toEqual([])
  })

  it('orders hits with equal scores by key', () => {
    expect(
      fuse([
        { key: 9, bm25: 1 },
        { key: 3, bm25: 1 },
        { key: 5, bm25: 1 },
      ]).map(({ key }) => key),
    ).toEqual([3, 5, 9])
  })

  it('keeps every hit once, in descending order of scores from 0 to 1, for any input scores', () => {
    const score = fc.option(fc.double({ min: -10, max: 100, noNaN: true }), { nil: undefined })
    const hits = fc.uniqueArray(fc.record({ key: fc.integer({ min: 1, max: 500 }), bm25: score, cosine: score }), {
      selector: (hit) => hit.key,
      maxLength: 50,
    })
    fc.assert(
      fc.property(hits, (values) => {
        const found: SearchHit[] = values.map(({ key, bm25, cosine }) => ({
          key,
          ...(bm25 === undefined ? {} : { bm25 }),
          ...(cosine === undefined ? {} : { cosine }),
        }))
        const fused = fuse(found)
        expect(new Set(fused.map(({ key }) => key))).toEqual(new Set(found.map(({ key }) => key)))
        fused.forEach((item, i) => {
          expect(item.fused).toBeGreaterThanOrEqual(0)
          expect(item.fused).toBeLessThanOrEqual(1)
          if (i > 0) expect(item.fused).toBeLessThanOrEqual(fused[i - 1]!.fused)
        })
      }),
    )
  })
})

it('fusion gives vector hits the configured share of the weight, and all weight if there are no text hits', () => {
  const hits = [
    { key: 1, bm25: 4, cosine: 0.2 },
    { key: 2, bm25: 2, cosine: 0.6 },
    { key: 3, bm25: 3, cosine: 0.4 },
  ]
  const scores = (share: number) => new Map(fuse(hits, share).map(({ key, fused }) => [key, fused]))
  expect(scores(0.6).get(1)).toBeCloseTo(0.4, 10)
  expect(scores(0.6).get(2)).toBeCloseTo(0.6, 10)
  expect(scores(0.6).get(3)).toBeCloseTo(0.5, 10)
  expect(fuse(hits, 0.6).map(({ key }) => key)).toEqual([2, 3, 1])
  const alone = fuse(
    [
      { key: 1, cosine: 0.2 },
      { key: 2, cosine: 0.6 },
    ],
    0.1,
  )
  expect(alone.map(({ fused }) => fused)).toEqual([1, 0])
  const text = fuse(
    [
      { key: 1, bm25: 1 },
      { key: 2, bm25: 3 },
    ],
    0.9,
  )
  expect(text.map(({ fused }) => fused)).toEqual([1, 0])
})

it('fusion counts a hit that text search did not find with text score 0, and keeps the original scores', () => {
  const fused = fuse([
    { key: 1, bm25: 10 },
    { key: 2, bm25: 5 },
    { key: 3, cosine: 0.3 },
  ])
  expect(fused.map(({ key, fused: score }) => [key, score])).toEqual([
    [1, 0.75],
    [2, 0.375],
    [3, 0.25],
  ])
  expect(fused[2]).toEqual({ key: 3, cosine: 0.3, fused: 0.25 })
  expect(scaleMinMax([undefined, 7, undefined])).toEqual([0, 1, 0])
  expect(scaleMinMax([-2, 0, 2])).toEqual([0, 0.5, 1])
})
