import { describe, expect, it } from 'vitest'
import { selectRelevantPassages } from '../../../../src/engine/retrieval/query/relevance.js'

/** Weights of the question's terms: one has nine tenths of the sum, another a tenth, a third a hundredth. */
const WEIGHTS: Record<string, number> = { lamp: 89, post: 10, iron: 1 }
const ASKED = { weight: 100, nodes: 1000, falloff: 0.2 }

interface One {
  final: number
  alone?: number
  containedTerms?: string[]
  byGraph?: 'graph' | 'second-hop'
  byMeaning?: boolean
  navigation?: Record<string, unknown>
}

/** Indexes of the passages that become evidence. */
function evidence(ranked: One[], { topK = 10, statistics = ASKED as object } = {}): number[] {
  const all = ranked.map((one, place) => ({ retrieval: 0, alone: 0, ...one, place }))
  const idf = (term: string) => WEIGHTS[term] ?? 0
  return selectRelevantPassages(all, { idf, statistics: statistics as typeof ASKED, topK }).map(({ place }) => place)
}

const BEST: One = { final: 0.8, alone: 0.6, containedTerms: ['lamp'] }

describe('the cutoff of evidence', () => {
  it('follows the last passage with a quarter of the best score', () => {
    expect(evidence([BEST, { final: 0.2 }, { final: 0.19 }])).toEqual([0, 1])
    expect(evidence([BEST, { final: 0.19 }, { final: 0.2 }, { final: 0.1 }])).toEqual([0, 1, 2])
    expect(evidence([BEST, { final: 0.19 }])).toEqual([0])
  })

  it('extends to a passage that answers alone with a twentieth of the highest confidence', () => {
    expect(evidence([BEST, { final: 0.01, alone: 0.03 }])).toEqual([0, 1])
    expect(evidence([BEST, { final: 0.01, alone: 0.029 }])).toEqual([0])
    expect(
      evidence([
        { ...BEST, alone: 0.1 },
        { final: 0.3, alone: 0.6 },
        { final: 0.01, alone: 0.029 },
      ]),
    ).toEqual([0, 1])
  })

  it('extends to a passage that contains a fiftieth of the question that no earlier passage contains', () => {
    expect(evidence([BEST, { final: 0.01, containedTerms: ['post'] }])).toEqual([0, 1])
    expect(evidence([BEST, { final: 0.01, containedTerms: ['iron'] }])).toEqual([0])
    expect(evidence([BEST, { final: 0.01, containedTerms: ['lamp'] }])).toEqual([0])
    const behind = [BEST, { final: 0.01, containedTerms: ['post'] }, { final: 0.01, containedTerms: ['post', 'iron'] }]
    expect(evidence(behind)).toEqual([0, 1])
  })

  it('extends to a passage that its vector supports, if the embedding model is calibrated', () => {
    const found = [BEST, { final: 0.01, byMeaning: true }]
    expect(evidence(found)).toEqual([0])
    expect(evidence(found, { statistics: { ...ASKED, byVectors: 0.2 } })).toEqual([0, 1])
    const silent = [BEST, { final: 0.01, byMeaning: false }]
    expect(evidence(silent, { statistics: { ...ASKED, byVectors: 0.2 } })).toEqual([0])
  })

  it('keeps second hops regardless of their score, but nothing else after the last relevant passage', () => {
    const found: One[] = [BEST, { final: 0.1 }, { final: 0.5, byGraph: 'second-hop' }, { final: 0.1 }]
    expect(evidence(found)).toEqual([0, 2])
    expect(evidence([BEST, { final: 0.1 }, { final: 0.5, byGraph: 'graph' }])).toEqual([0, 1, 2])
  })

  it('keeps the best passage regardless of its score, and returns no passage for an empty list', () => {
    expect(
      evidence(
        [
          { final: 0, alone: 0 },
          { final: 0, alone: 0 },
        ].map((one) => ({ ...one, alone: 0 })),
      ),
    ).toEqual([0, 1])
    expect(evidence([{ final: 0.01, alone: 0 }])).toEqual([0])
    expect(evidence([])).toEqual([])
  })

  it('keeps everything if topK is above ten or passages were not compared', () => {
    const found: One[] = [BEST, { final: 0.01 }, { final: 0.02 }]
    expect(evidence(found, { topK: 10 })).toEqual([0])
    expect(evidence(found, { topK: 11 })).toEqual([0, 1, 2])
    expect(evidence([BEST, { final: 0.01 }, { final: 0.02, navigation: {} }])).toEqual([0, 1, 2])
    const uncompared = [
      { ...BEST, place: 0, retrieval: 0 },
      { final: 0.01, place: 1, retrieval: 0 },
    ]
    expect(selectRelevantPassages(uncompared, { idf: () => 1, statistics: ASKED, topK: 10 })).toHaveLength(2)
  })
})
