import { describe, expect, it } from 'vitest'
import { relevantPassages } from '../../../src/engine/query/relevance.js'

/** Weights of the question: one term tells nine tenths of it, another a tenth, a third a hundredth. */
const WEIGHTS: Record<string, number> = { lamp: 89, post: 10, iron: 1 }
const ASKED = { weight: 100, nodes: 1000, falloff: 0.2 }

interface One {
  final: number
  alone?: number
  held?: string[]
  byGraph?: 'graph' | 'second-hop'
  byMeaning?: boolean
  navigation?: Record<string, unknown>
}

/** Places of those that are evidence. */
function evidence(ranked: One[], { topK = 10, asked = ASKED as object } = {}): number[] {
  const all = ranked.map((one, place) => ({ retrieval: 0, alone: 0, ...one, place }))
  const idf = (term: string) => WEIGHTS[term] ?? 0
  return relevantPassages(all, { idf, asked: asked as typeof ASKED, topK }).map(({ place }) => place)
}

const BEST: One = { final: 0.8, alone: 0.6, held: ['lamp'] }

describe('evidence', () => {
  it('ends behind the last passage that comes to a quarter of the best score', () => {
    expect(evidence([BEST, { final: 0.2 }, { final: 0.19 }])).toEqual([0, 1])
    expect(evidence([BEST, { final: 0.19 }, { final: 0.2 }, { final: 0.1 }])).toEqual([0, 1, 2])
    expect(evidence([BEST, { final: 0.19 }])).toEqual([0])
  })

  it('goes on to one that answers by itself with a twentieth of the surest one’s confidence', () => {
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

  it('goes on to one that holds a fiftieth of the question that none before it holds', () => {
    expect(evidence([BEST, { final: 0.01, held: ['post'] }])).toEqual([0, 1])
    expect(evidence([BEST, { final: 0.01, held: ['iron'] }])).toEqual([0])
    expect(evidence([BEST, { final: 0.01, held: ['lamp'] }])).toEqual([0])
    const behind = [BEST, { final: 0.01, held: ['post'] }, { final: 0.01, held: ['post', 'iron'] }]
    expect(evidence(behind)).toEqual([0, 1])
  })

  it('goes on to one for which its vector speaks, where a model is calibrated', () => {
    const found = [BEST, { final: 0.01, byMeaning: true }]
    expect(evidence(found)).toEqual([0])
    expect(evidence(found, { asked: { ...ASKED, byVectors: 0.2 } })).toEqual([0, 1])
    const silent = [BEST, { final: 0.01, byMeaning: false }]
    expect(evidence(silent, { asked: { ...ASKED, byVectors: 0.2 } })).toEqual([0])
  })

  it('has what came over a second hop, whose score says nothing, and nothing else behind the last relevant one', () => {
    const found: One[] = [BEST, { final: 0.1 }, { final: 0.5, byGraph: 'second-hop' }, { final: 0.1 }]
    expect(evidence(found)).toEqual([0, 2])
    expect(evidence([BEST, { final: 0.1 }, { final: 0.5, byGraph: 'graph' }])).toEqual([0, 1, 2])
  })

  it('is always the best passage, however little it says, and nothing where there is none', () => {
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

  it('is everything where more than ten places are asked for, or passages were not compared', () => {
    const found: One[] = [BEST, { final: 0.01 }, { final: 0.02 }]
    expect(evidence(found, { topK: 10 })).toEqual([0])
    expect(evidence(found, { topK: 11 })).toEqual([0, 1, 2])
    expect(evidence([BEST, { final: 0.01 }, { final: 0.02, navigation: {} }])).toEqual([0, 1, 2])
    const uncompared = [
      { ...BEST, place: 0, retrieval: 0 },
      { final: 0.01, place: 1, retrieval: 0 },
    ]
    expect(relevantPassages(uncompared, { idf: () => 1, asked: ASKED, topK: 10 })).toHaveLength(2)
  })
})
