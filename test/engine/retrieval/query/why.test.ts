import { describe, expect, it } from 'vitest'
import { computeAnswerConfidence } from '../../../../src/engine/retrieval/query/confidence.js'
import type { RankedPassage } from '../../../../src/engine/retrieval/query/evidence.js'
import { explainInclusion, getOwnConfidence } from '../../../../src/engine/retrieval/query/relevance.js'

const ASKED = { weight: 8, nodes: 1000, falloff: 0 }
const FEATURES = {
  coverage: 0.5,
  titleCoverage: 0,
  bodyCoverage: 0.5,
  sentenceCoverage: 0.4,
  strength: 0.2,
  pairs: 0.1,
  earliness: 1,
}
const passage = (more: Partial<RankedPassage>): RankedPassage =>
  ({ passage: { key: 1 }, final: 1, retrieval: 1, ...more }) as RankedPassage
const words = (terms: ReadonlySet<string>) => [...terms].map((term) => term.toUpperCase())
const why = (...ranked: Partial<RankedPassage>[]) => explainInclusion(ranked.map(passage), words, ASKED)

describe('the reason for a passage in the evidence', () => {
  it('lists the words of the question in the passage, and the words that no earlier passage has', () => {
    const reasons = why(
      { containedTerms: ['lamp', 'iron'] },
      { containedTerms: ['iron', 'glass'] },
      { containedTerms: ['glass'] },
      {},
    )
    expect(reasons.map((one) => one.words)).toEqual([['LAMP', 'IRON'], ['IRON', 'GLASS'], ['GLASS'], []])
    expect(reasons.map((one) => one.adds)).toEqual([['LAMP', 'IRON'], ['GLASS'], [], []])
  })

  it('names the search method that found the passage', () => {
    const navigation = { section: 's', summaryScore: 1, documentScore: 1 }
    const reasons = why(
      { navigation, byGraph: 'graph', containedTerms: ['lamp'] },
      { byGraph: 'graph', containedTerms: ['lamp'] },
      { byGraph: 'second-hop' },
      { containedTerms: [], byMeaning: true },
      {},
      { containedTerms: ['lamp'], byMeaning: true },
      { containedTerms: ['lamp'] },
    )
    expect(reasons.map(({ by }) => by)).toEqual([
      'sections',
      'graph',
      'second-hop',
      'meaning',
      'meaning',
      'words-and-meaning',
      'words',
    ])
  })

  it('contains the confidence of the passage with four digits if its text was compared', () => {
    const [compared, known, neither] = why({ features: FEATURES }, { alone: 0.123456, features: FEATURES }, {})
    const confidence = computeAnswerConfidence(FEATURES, ASKED)
    expect(compared?.confidence).toBe(Math.round(confidence * 10_000) / 10_000)
    expect(known?.confidence).toBe(0.1235)
    expect(neither).not.toHaveProperty('confidence')
    expect(getOwnConfidence({ features: FEATURES }, ASKED)).toBe(confidence)
    expect(getOwnConfidence({ alone: 0, features: FEATURES }, ASKED)).toBe(0)
    expect(getOwnConfidence({}, ASKED)).toBeUndefined()
  })
})
