import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EvidenceItem } from '../../../../src/contract/gateway/queries.js'
import { judgeOutcome, measureEvidence } from '../../../../src/engine/retrieval/quality/golden-measure.js'
import { findQuoteRanges, overlaps, toLetterText } from '../../../../src/engine/retrieval/quality/text-location.js'

describe('a quote of a golden question', () => {
  it('matches text with other case, spaces and marks between its letters, and gets offsets in that text', () => {
    const word = fc.stringMatching(/^[a-z0-9ä語]{1,8}$/u)
    const between = fc.constantFrom(' ', '\n', ' — ', '**', '\u00a0', '😀 ')
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 6 }), between, between, (words, theirs, ours) => {
        const text = `Before it. ${words.join(theirs)} After`
        const places = findQuoteRanges(words.join(ours).toUpperCase(), toLetterText(text))
        expect(places.length).toBeGreaterThan(0)
        const own = toLetterText(words.join('')).letters
        for (const { start, end } of places) expect(toLetterText(text.slice(start, end)).letters).toBe(own)
      }),
    )
  })

  it('matches nowhere if it consists of punctuation', () => {
    expect(findQuoteRanges('— !', toLetterText('a — ! b'))).toEqual([])
  })

  it('counts as contained in a passage that overlaps at least half of the quote', () => {
    expect(overlaps({ start: 0, end: 10 }, { start: 5, end: 100 })).toBe(true)
    expect(overlaps({ start: 0, end: 10 }, { start: 6, end: 100 })).toBe(false)
    expect(overlaps({ start: 0, end: 10 }, { start: 10, end: 20 })).toBe(false)
  })
})

describe('the recall and reciprocal rank of evidence', () => {
  const item = (nodeId: string, documentAssetId: string, startOffset: number, endOffset: number): EvidenceItem => ({
    nodeId,
    text: nodeId,
    score: 1,
    scores: { retrieval: 1, final: 1 },
    freshness: 'fresh',
    citations: [{ documentAssetId, documentVersion: 1, sectionPath: [], startOffset, endOffset }],
    conflicts: [],
    metadata: {},
  })
  const bundle = { items: [item('n1', 'd1', 0, 50), item('n2', 'd2', 0, 50), item('n3', 'd1', 50, 100)] }

  it('count only the first k evidence items, and come with the expected passages that are missing', () => {
    const wanted = [
      { text: 'late', label: { documentId: 'd1', ranges: [{ start: 60, end: 70 }] } },
      { text: 'second', nodeId: 'n2' },
      { text: 'nowhere', label: { documentId: 'd9' } },
    ]
    expect(measureEvidence(bundle, wanted, 50)).toEqual({ recall: 2 / 3, reciprocalRank: 1 / 2, missing: ['nowhere'] })
    expect(measureEvidence(bundle, wanted, 1)).toMatchObject({ recall: 0, reciprocalRank: 0 })
    expect(measureEvidence({ items: [] }, wanted, 50)).toMatchObject({ recall: 0 })
  })
})

describe('the outcome of a golden question', () => {
  it.each([
    [{ recall: 1, answerable: true }, 'passed'],
    [{ recall: 0.5, answerable: true }, 'partly'],
    [{ recall: 1, answerable: false }, 'partly'],
    [{ recall: 0, answerable: true }, 'failed'],
    [{ recall: 1, answer: { right: false } }, 'failed'],
    [{ answerable: false }, 'failed'],
    [{ answer: { right: true } }, 'passed'],
  ])('for the measurements %j equals %s', (figures, outcome) => {
    expect(judgeOutcome(figures)).toBe(outcome)
  })
})
