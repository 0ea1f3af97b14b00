import { describe, expect, it } from 'vitest'
import { findTopics, type TopicDocument } from '../../../../src/engine/knowledge/views/topics.kernel.js'

const TIDES = [1, 2, 3, 4, 5, 6, 7, 8]
const BREAD = [21, 22, 23, 24, 25, 26, 27, 28]
const about = (key: number, terms: number[], more: Partial<TopicDocument> = {}): TopicDocument => ({
  key,
  terms: Int32Array.from(terms),
  counts: new Uint16Array(terms.length).fill(3),
  passages: 4,
  ...more,
})
const part = (terms: number[], passages: number) => ({ terms, counts: terms.map(() => 3), passages })
const PLAIN = [1, 2, 3, 4].flatMap((n) => [about(n, [...TIDES, 100 + n]), about(10 + n, [...BREAD, 200 + n])])

describe('a document with two subjects', () => {
  it('belongs to the topics of both, with each passage in the topic of its subject', () => {
    const both = about(99, [...TIDES, ...BREAD.slice(0, 5)], {
      passages: 10,
      parts: [part(TIDES, 7), part(BREAD, 3)],
    })
    const topics = findTopics([...PLAIN, both])
    const holding = topics.filter(({ members }) => members.some(({ key }) => key === 99))
    expect(holding).toHaveLength(2)
    expect(holding.map(({ passages }) => passages).sort((a, b) => b - a)).toEqual([23, 19])
    expect(topics.reduce((sum, { passages }) => sum + passages, 0)).toBe(42)
  })

  it('belongs to one topic if the other subject has too few passages', () => {
    const mostly = about(99, [...TIDES, ...BREAD.slice(0, 2)], {
      passages: 10,
      parts: [part(TIDES, 9), part(BREAD, 1)],
    })
    const topics = findTopics([...PLAIN, mostly])
    expect(topics.filter(({ members }) => members.some(({ key }) => key === 99))).toHaveLength(1)
    expect(topics.map(({ passages }) => passages).sort((a, b) => b - a)).toEqual([26, 16])
  })
})
