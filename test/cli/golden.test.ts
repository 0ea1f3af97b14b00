import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { baselineOf, checkMinimums, compare } from '../../src/cli/golden/gate.js'
import { junit } from '../../src/cli/golden/junit.js'
import { type CaseResult, measureEvidence, metricsOf } from '../../src/cli/golden/measure.js'
import { lettersOf, overlap, placesOf } from '../../src/cli/golden/place.js'
import { readCase } from '../../src/cli/golden/question.js'
import { makeReport } from '../../src/cli/golden/report.js'

const result = (id: string, recall: number, more: Partial<CaseResult> = {}): CaseResult => ({
  id,
  question: id,
  tags: [],
  status: 'measured',
  missing: [],
  unresolved: [],
  recall,
  reciprocalRank: recall,
  ...more,
})

describe('a quote', () => {
  it('is found whatever stands between its letters, and its place is that of the text', () => {
    const word = fc.stringMatching(/^[a-z0-9ä語]{1,8}$/u)
    const between = fc.constantFrom(' ', '\n', ' — ', '**', '\u00a0', '😀 ')
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 6 }), between, between, (words, theirs, ours) => {
        const text = `Before it. ${words.join(theirs)} After`
        const places = placesOf(words.join(ours).toUpperCase(), lettersOf(text))
        expect(places.length).toBeGreaterThan(0)
        const own = lettersOf(words.join('')).plain
        for (const { start, end } of places) expect(lettersOf(text.slice(start, end)).plain).toBe(own)
      }),
    )
  })

  it('of marks alone is nowhere', () => {
    expect(placesOf('— !', lettersOf('a — ! b'))).toEqual([])
  })

  it('is held by a passage that has at least half of it', () => {
    expect(overlap({ start: 0, end: 10 }, { start: 5, end: 100 })).toBe(true)
    expect(overlap({ start: 0, end: 10 }, { start: 6, end: 100 })).toBe(false)
    expect(overlap({ start: 0, end: 10 }, { start: 10, end: 20 })).toBe(false)
  })
})

describe('evidence', () => {
  const item = (nodeId: string, documentAssetId: string, startOffset: number, endOffset: number) => {
    return { nodeId, citations: [{ documentAssetId, startOffset, endOffset }] }
  }
  const bundle = { items: [item('n1', 'd1', 0, 50), item('n2', 'd2', 0, 50), item('n3', 'd1', 50, 100)] }

  it('is measured by what its first items hold', () => {
    const wanted = [
      { text: 'late', label: { documentId: 'd1', ranges: [{ start: 60, end: 70 }] } },
      { text: 'second', nodeId: 'n2' },
      { text: 'nowhere', label: { documentId: 'd9' } },
    ]
    expect(measureEvidence(bundle, wanted, 50)).toEqual({ recall: 2 / 3, reciprocalRank: 1 / 2, missing: ['nowhere'] })
    expect(measureEvidence(bundle, wanted, 1)).toMatchObject({ recall: 0, reciprocalRank: 0 })
    expect(measureEvidence('no bundle', wanted, 50)).toMatchObject({ recall: 0 })
  })
})

describe('a gate', () => {
  it('compares the questions that both runs measured, and allows the tolerance', () => {
    const run = { mode: 'fast', k: 50 }
    const baseline = baselineOf([result('a', 1), result('b', 1), result('old', 1)], run)
    const now = [result('a', 1), result('b', 0.9), result('new', 0)]
    const compared = compare(now, baseline, 0.05)
    expect(compared).toMatchObject({ worse: ['b'], added: ['new'], removed: ['old'] })
    expect(compared.checks.map(({ name, holds }) => [name, holds])).toEqual([
      ['baseline-recall', true],
      ['baseline-mrr', true],
    ])
    expect(compare(now, baseline, 0.04).checks.every(({ holds }) => holds)).toBe(false)
  })

  it('does not hold for a figure that nothing gave', () => {
    const metrics = metricsOf([result('a', 1)])
    expect(checkMinimums(metrics, { answerable: 0 })).toMatchObject([{ holds: false }])
    expect(checkMinimums(metrics, { recall: 1 })).toMatchObject([{ holds: true }])
  })
})

describe('a JUnit report', () => {
  it('holds any question as well-formed XML', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (question) => {
        const results = [result('a', 1, { question }), result('b', 0, { status: 'failed', error: question })]
        const xml = junit(makeReport(results, { mode: 'fast', k: 50 }, [], undefined))
        expect(xml).toMatch(/<testsuites tests="2" failures="0" errors="1" skipped="0">/)
        expect(xml.match(/<testcase [^<>]*>/g)).toHaveLength(2)
        expect(xml).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/)
        expect(xml.isWellFormed()).toBe(true)
        expect(xml).not.toMatch(/&(?!amp;|lt;|gt;|quot;)/)
      }),
      { numRuns: 30 },
    )
  })
})

describe('a question', () => {
  it('is read with its labels in any of their forms', () => {
    expect(readCase({ question: 'x', expect: 'a.md' }, 'f').anchors).toEqual([
      { document: 'a.md', heading: [], quote: undefined },
    ])
    const stored = { question: 'x', metadata: { expect: [{ document: 'a.md', heading: 'One' }], answerable: true } }
    expect(readCase(stored, 'f')).toMatchObject({ anchors: [{ heading: ['One'] }], answerable: true })
    const judged = { question: 'x', metadata: { annotation: { answerCorrectness: 'not-answerable' } } }
    expect(readCase(judged, 'f').answerable).toBe(false)
    expect(readCase({ question: 'x' }, 'f')).toMatchObject({ anchors: [], answerable: undefined })
  })

  it.each([
    [null, 'f must be an object with a question'],
    [{}, 'f must have a question'],
    [{ question: 'x', tags: 'a' }, 'f: tags must be a list of texts'],
    [{ question: 'x', answerable: 'no' }, 'f: answerable must be true or false'],
    [{ question: 'x', expect: [{ document: 'a', page: 3 }] }, 'f: expect 1 has an unknown key "page"'],
  ])('%j is refused with its place', (value, message) => {
    expect(() => readCase(value, 'f')).toThrow(message)
  })
})
