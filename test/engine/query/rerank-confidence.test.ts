import { describe, expect, it } from 'vitest'
import { rerankedConfidence } from '../../../src/engine/query/rerank-confidence.js'

/** Candidates that a model says nothing of: around a score, a little apart. */
const background = (around: number, count = 29) =>
  Array.from({ length: count }, (_, place) => around * (1 + ((place % 7) - 3) / 20))

describe('the confidence after a rerank model', () => {
  it.each([
    ['relevance', 0.95, 0.01],
    ['a scale whose answers are at a half', 0.5, 0.05],
  ])('is at least the relevance of a passage that stands out: %s', (_, best, rest) => {
    expect(rerankedConfidence(0.05, [best, ...background(rest)])).toEqual({ confidence: best, relevance: best })
  })

  it('is more than halved where the model finds that all candidates are as far from the question', () => {
    expect(rerankedConfidence(0.7, background(0.01, 30)).confidence).toBeLessThan(0.3)
    expect(rerankedConfidence(0.2, background(0.001, 30)).confidence).toBeLessThan(0.1)
  })

  it('stays as it was where a scale tells nothing: all high, all in the middle, or all the same', () => {
    for (const scores of [background(0.8, 30), background(0.4, 30), Array<number>(30).fill(1), [0.5]])
      expect(rerankedConfidence(0.6, scores)).toEqual({ confidence: expect.closeTo(0.6, 6) })
  })

  it('falls less where a model of low scores still tells one passage from the others', () => {
    const told = rerankedConfidence(0.9, [0.08, ...background(0.001)])
    expect(told.confidence).toBeGreaterThan(0.7)
    expect(rerankedConfidence(0.9, background(0.001, 30)).confidence).toBeLessThan(told.confidence)
  })

  it('is told by two candidates only where they are far apart', () => {
    expect(rerankedConfidence(0.1, [0.9, 0.1]).confidence).toBe(0.9)
    expect(rerankedConfidence(0.1, [0.9, 0.8]).confidence).toBeCloseTo(0.1)
  })

  it('never leaves 0 to 1, whatever the scores are', () => {
    for (const before of [0, 0.5, 1])
      for (const scores of [[], [0], [1], [0, 1], background(0, 30)]) {
        const { confidence } = rerankedConfidence(before, scores)
        expect(confidence).toBeGreaterThanOrEqual(0)
        expect(confidence).toBeLessThanOrEqual(1)
      }
  })
})
