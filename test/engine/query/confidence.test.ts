import { describe, expect, it } from 'vitest'
import {
  answerConfidence,
  bestSigns,
  falloffOf,
  USUAL_FALLOFF,
  weightOf,
} from '../../../src/engine/query/confidence.js'
import { aboveChance, denseConfidence, denseWeights } from '../../../src/engine/query/dense.js'
import { countedWeights, SMALLEST_SPACE } from '../../../src/engine/query/term-weights.js'

const SIGNS = { strength: 0.6, pairs: 0.5, sentenceCoverage: 0.7 }
const ASKED = { weight: 15, nodes: 1000, falloff: USUAL_FALLOFF }

describe('the confidence that a passage answers', () => {
  it('rises with each feature and with the weight of the question, and falls with the size of the space', () => {
    const usual = answerConfidence(SIGNS, ASKED)
    for (const sign of ['strength', 'pairs', 'sentenceCoverage'] as const)
      expect(answerConfidence({ ...SIGNS, [sign]: 0.9 }, ASKED)).toBeGreaterThan(usual)
    expect(answerConfidence(SIGNS, { ...ASKED, weight: 25 })).toBeGreaterThan(usual)
    expect(answerConfidence(SIGNS, { ...ASKED, falloff: 0.4 })).toBeGreaterThan(usual)
    expect(answerConfidence(SIGNS, { ...ASKED, nodes: 100_000 })).toBeLessThan(usual)
    expect(answerConfidence(SIGNS, { ...ASKED, nodes: 1 })).toBe(
      answerConfidence(SIGNS, { ...ASKED, nodes: SMALLEST_SPACE }),
    )
  })

  it('equals the value of the fitted model', () => {
    expect(answerConfidence(SIGNS, ASKED)).toBeCloseTo(0.98994, 4)
    expect(answerConfidence({ strength: 0, pairs: 0, sentenceCoverage: 0 }, ASKED)).toBeLessThan(0.001)
  })

  it('uses the best value of each feature over all passages', () => {
    const signs = [
      { strength: 0.1, pairs: 0.9, sentenceCoverage: 0.2 },
      { strength: 0.8, pairs: 0.3, sentenceCoverage: 0.1 },
    ]
    expect(bestSigns(signs)).toEqual({ strength: 0.8, pairs: 0.9, sentenceCoverage: 0.2 })
    expect(bestSigns([])).toEqual({ strength: 0, pairs: 0, sentenceCoverage: 0 })
  })

  it('counts the weight of each distinct term once, and no negative weights', () => {
    const idf = (term: string) => ({ rare: 5, usual: 1, everywhere: -1 })[term] ?? 0
    expect(weightOf(['rare', 'usual', 'rare', 'everywhere', 'unknown'], idf)).toBe(6)
    expect(weightOf([], idf)).toBe(0)
  })

  it('uses the falloff from the first to the last hit of a full leg', () => {
    expect(falloffOf([2, 8, 4], 3)).toBe(0.25)
    expect(falloffOf([2, 8, 4], 2)).toBe(0.5)
    expect(falloffOf([2, 8, 4], 4)).toBe(0)
    expect(falloffOf([], 3)).toBe(0)
    expect(falloffOf([0, 0], 2)).toBe(0)
  })
})

it('rarer terms weigh more, and a small space counts as one of thirty nodes', () => {
  const weights = countedWeights((term) => ({ one: 1, ten: 10, all: 500 })[term] ?? 0, 100)
  expect(weights('one')).toBeCloseTo(Math.log(1 + 99.5 / 1.5), 10)
  expect(weights('ten')).toBeCloseTo(Math.log(1 + 90.5 / 10.5), 10)
  expect(weights('none')).toBeCloseTo(Math.log(1 + 100.5 / 0.5), 10)
  expect(weights('all')).toBeCloseTo(Math.log(1 + 0.5 / 100.5), 10)
  expect(countedWeights(() => 1, 1)('x')).toBeCloseTo(Math.log(1 + 29.5 / 1.5), 10)
})

describe('the calibration of cosines of any model', () => {
  const chance = Math.sqrt(2 * Math.log(1000))
  const calibration = { background: { middle: 0.3, spread: 0.1, samples: 50 }, nodes: 1000 }
  const at = (spreads: number) => 0.3 + 0.1 * (chance + spreads)

  it('measures how far the best cosine exceeds the level of chance', () => {
    expect(aboveChance(at(2), calibration)).toBeCloseTo(2, 6)
    expect(aboveChance(at(-1), calibration)).toBeCloseTo(-1, 6)
    const few = { background: undefined, nodes: 1 }
    expect(aboveChance(0.95, few)).toBeCloseTo(5 - Math.sqrt(2 * Math.log(30)), 6)
    const alike = { background: { middle: 0.7, spread: 0, samples: 50 }, nodes: 1000 }
    expect(aboveChance(0.73, alike)).toBeCloseTo(2 - chance, 6)
  })

  it('keeps dense weights within their bounds, higher for a clearer distance', () => {
    const weights = (spreads: number) => denseWeights(at(spreads), calibration)
    expect([weights(-3), weights(0)].map(({ share }) => share.toFixed(4))).toEqual(['0.1000', '0.1000'])
    expect(weights(2).share).toBeCloseTo(0.35, 6)
    expect(weights(2).rank).toBeCloseTo(0.975, 6)
    expect(weights(9)).toEqual({ share: 0.6, rank: 1.8 })
    expect(weights(0).rank).toBeCloseTo(0.15, 6)
  })

  it('gives a confidence of one in twenty-five at the level of chance', () => {
    expect(denseConfidence(at(0), calibration)).toBeCloseTo(1 / (1 + Math.exp(3.2)), 6)
    expect(denseConfidence(at(2), calibration)).toBeCloseTo(1 / (1 + Math.exp(0.2)), 6)
    expect(denseConfidence(at(6), calibration)).toBeGreaterThan(0.99)
  })
})
