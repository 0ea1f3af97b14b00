import { describe, expect, it } from 'vitest'
import { computeRerankedConfidence } from '../../../../src/engine/retrieval/query/model-rerank.js'

/** Scores of candidates between which a model does not distinguish: close to one value. */
const background = (around: number, count = 29) =>
  Array.from({ length: count }, (_, place) => around * (1 + ((place % 7) - 3) / 20))

describe('the confidence after a rerank model', () => {
  it.each([
    ['relevance', 0.95, 0.01],
    ['a scale with one half as score', 0.5, 0.05],
  ])('reaches at least the relevance of a passage that stands out: %s', (_, best, rest) => {
    expect(computeRerankedConfidence(0.05, [best, ...background(rest)])).toEqual({ confidence: best, relevance: best })
  })

  it('falls by more than half if the model finds all candidates equally far from the question', () => {
    expect(computeRerankedConfidence(0.7, background(0.01, 30)).confidence).toBeLessThan(0.3)
    expect(computeRerankedConfidence(0.2, background(0.001, 30)).confidence).toBeLessThan(0.1)
  })

  it('stays the same if the scores carry no information: all high, all medium, or all equal', () => {
    for (const scores of [background(0.8, 30), background(0.4, 30), Array<number>(30).fill(1), [0.5]])
      expect(computeRerankedConfidence(0.6, scores)).toEqual({ confidence: expect.closeTo(0.6, 6) })
  })

  it('falls less if a model with low scores still distinguishes one passage from the others', () => {
    const result = computeRerankedConfidence(0.9, [0.08, ...background(0.001)])
    expect(result.confidence).toBeGreaterThan(0.7)
    expect(computeRerankedConfidence(0.9, background(0.001, 30)).confidence).toBeLessThan(result.confidence)
  })

  it('changes with two candidates only if their scores are far apart', () => {
    expect(computeRerankedConfidence(0.1, [0.9, 0.1]).confidence).toBe(0.9)
    expect(computeRerankedConfidence(0.1, [0.9, 0.8]).confidence).toBeCloseTo(0.1)
  })

  it('stays within 0…1 for any scores', () => {
    for (const before of [0, 0.5, 1])
      for (const scores of [[], [0], [1], [0, 1], background(0, 30)]) {
        const { confidence } = computeRerankedConfidence(before, scores)
        expect(confidence).toBeGreaterThanOrEqual(0)
        expect(confidence).toBeLessThanOrEqual(1)
      }
  })
})
