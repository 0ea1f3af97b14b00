import { describe, expect, it } from 'vitest'
import {
  computeAnswerConfidence,
  computeDenseConfidence,
  computeDenseWeights,
  computeFalloff,
  computeSpreadsAboveChance,
  DEFAULT_FALLOFF,
  maxFeatures,
  sumWeights,
} from '../../../../src/engine/retrieval/query/confidence.js'
import { createTermWeights, MIN_SPACE_NODES } from '../../../../src/engine/retrieval/query/term-weights.js'

const SIGNS = { strength: 0.6, pairs: 0.5, sentenceCoverage: 0.7 }
const ASKED = { weight: 15, nodes: 1000, falloff: DEFAULT_FALLOFF }

describe('the confidence that a passage answers the question', () => {
  it('rises with each feature and the weight of the question, and falls with the size of the space', () => {
    const usual = computeAnswerConfidence(SIGNS, ASKED)
    for (const sign of ['strength', 'pairs', 'sentenceCoverage'] as const)
      expect(computeAnswerConfidence({ ...SIGNS, [sign]: 0.9 }, ASKED)).toBeGreaterThan(usual)
    expect(computeAnswerConfidence(SIGNS, { ...ASKED, weight: 25 })).toBeGreaterThan(usual)
    expect(computeAnswerConfidence(SIGNS, { ...ASKED, falloff: 0.4 })).toBeGreaterThan(usual)
    expect(computeAnswerConfidence(SIGNS, { ...ASKED, nodes: 100_000 })).toBeLessThan(usual)
    expect(computeAnswerConfidence(SIGNS, { ...ASKED, nodes: 1 })).toBe(
      computeAnswerConfidence(SIGNS, { ...ASKED, nodes: MIN_SPACE_NODES }),
    )
  })

  it('equals the recorded value of the fitted model', () => {
    expect(computeAnswerConfidence(SIGNS, ASKED)).toBeCloseTo(0.98994, 4)
    expect(computeAnswerConfidence({ strength: 0, pairs: 0, sentenceCoverage: 0 }, ASKED)).toBeLessThan(0.001)
  })

  it('uses the best value of each feature over all passages', () => {
    const signs = [
      { strength: 0.1, pairs: 0.9, sentenceCoverage: 0.2 },
      { strength: 0.8, pairs: 0.3, sentenceCoverage: 0.1 },
    ]
    expect(maxFeatures(signs)).toEqual({ strength: 0.8, pairs: 0.9, sentenceCoverage: 0.2 })
    expect(maxFeatures([])).toEqual({ strength: 0, pairs: 0, sentenceCoverage: 0 })
  })

  it('counts the weight of each distinct term of the question once, and no negative weights', () => {
    const idf = (term: string) => ({ rare: 5, usual: 1, everywhere: -1 })[term] ?? 0
    expect(sumWeights(['rare', 'usual', 'rare', 'everywhere', 'unknown'], idf)).toBe(6)
    expect(sumWeights([], idf)).toBe(0)
  })

  it('uses the falloff from the first to the last hit of a list that is full', () => {
    expect(computeFalloff([2, 8, 4], 3)).toBe(0.25)
    expect(computeFalloff([2, 8, 4], 2)).toBe(0.5)
    expect(computeFalloff([2, 8, 4], 4)).toBe(0)
    expect(computeFalloff([], 3)).toBe(0)
    expect(computeFalloff([0, 0], 2)).toBe(0)
  })
})

it('rarer terms of a question weigh more, and a space counts as one of at least thirty nodes', () => {
  const weights = createTermWeights((term) => ({ one: 1, ten: 10, all: 500 })[term] ?? 0, 100)
  expect(weights('one')).toBeCloseTo(Math.log(1 + 99.5 / 1.5), 10)
  expect(weights('ten')).toBeCloseTo(Math.log(1 + 90.5 / 10.5), 10)
  expect(weights('none')).toBeCloseTo(Math.log(1 + 100.5 / 0.5), 10)
  expect(weights('all')).toBeCloseTo(Math.log(1 + 0.5 / 100.5), 10)
  expect(createTermWeights(() => 1, 1)('x')).toBeCloseTo(Math.log(1 + 29.5 / 1.5), 10)
})

describe('the calibration of cosines of an embedding model', () => {
  const chance = Math.sqrt(2 * Math.log(1000))
  const calibration = { background: { middle: 0.3, spread: 0.1, samples: 50 }, nodes: 1000 }
  const at = (spreads: number) => 0.3 + 0.1 * (chance + spreads)

  it('measures how far the best cosine exceeds the level of chance', () => {
    expect(computeSpreadsAboveChance(at(2), calibration)).toBeCloseTo(2, 6)
    expect(computeSpreadsAboveChance(at(-1), calibration)).toBeCloseTo(-1, 6)
    const few = { background: undefined, nodes: 1 }
    expect(computeSpreadsAboveChance(0.95, few)).toBeCloseTo(5 - Math.sqrt(2 * Math.log(30)), 6)
    const alike = { background: { middle: 0.7, spread: 0, samples: 50 }, nodes: 1000 }
    expect(computeSpreadsAboveChance(0.73, alike)).toBeCloseTo(2 - chance, 6)
  })

  it('keeps the weights of vector hits within bounds, higher the more a cosine exceeds the level of chance', () => {
    const weights = (spreads: number) => computeDenseWeights(at(spreads), calibration)
    expect([weights(-3), weights(0)].map(({ fused }) => fused.toFixed(4))).toEqual(['0.1000', '0.1000'])
    expect(weights(2).fused).toBeCloseTo(0.35, 6)
    expect(weights(2).rank).toBeCloseTo(0.975, 6)
    expect(weights(9)).toEqual({ fused: 0.6, rank: 1.8 })
    expect(weights(0).rank).toBeCloseTo(0.15, 6)
  })

  it('gives a confidence of one in twenty-five at the level of chance', () => {
    expect(computeDenseConfidence(at(0), calibration)).toBeCloseTo(1 / (1 + Math.exp(3.2)), 6)
    expect(computeDenseConfidence(at(2), calibration)).toBeCloseTo(1 / (1 + Math.exp(0.2)), 6)
    expect(computeDenseConfidence(at(6), calibration)).toBeGreaterThan(0.99)
  })
})
