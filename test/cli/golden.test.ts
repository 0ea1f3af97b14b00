import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkMinimums, compareToBaseline, makeBaseline } from '../../src/cli/golden/gate.js'
import { formatJunit } from '../../src/cli/golden/junit.js'
import { formatGoldenReport, makeGoldenReport } from '../../src/cli/golden/report.js'
import { parseGoldenLines } from '../../src/cli/golden-file.js'
import type { CaseResult } from '../../src/cli/json-output/quality.js'
import { parseGoldenCase } from '../../src/contract/golden-case.js'
import { computeGoldenMetrics } from '../../src/lib/golden-metrics.js'

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

describe('a quality gate', () => {
  it('compares the questions that golden run and baseline share, within the tolerance', () => {
    const run = { mode: 'fast', k: 50 }
    const baseline = makeBaseline([result('a', 1), result('b', 1), result('old', 1)], run)
    const now = [result('a', 1), result('b', 0.9), result('new', 0)]
    const compared = compareToBaseline(now, baseline, 0.05)
    expect(compared).toMatchObject({ worse: ['b'], added: ['new'], removed: ['old'] })
    expect(compared.checks.map(({ name, holds }) => [name, holds])).toEqual([
      ['baseline-recall', true],
      ['baseline-mrr', true],
    ])
    expect(compareToBaseline(now, baseline, 0.04).checks.every(({ holds }) => holds)).toBe(false)
  })

  it('fails for a minimum without a measured value', () => {
    const metrics = computeGoldenMetrics([result('a', 1)])
    expect(checkMinimums(metrics, { answerable: 0 })).toMatchObject([{ holds: false }])
    expect(checkMinimums(metrics, { recall: 1 })).toMatchObject([{ holds: true }])
  })
})

describe('a quality gate on answers', () => {
  const answer = (right: boolean) => ({
    answer: { right, missing: right ? [] : ['four weeks'], forbidden: right ? [] : ['two weeks'], text: 'two weeks' },
  })

  it('fails when all passages are found but an answer is wrong', () => {
    const metrics = computeGoldenMetrics([result('a', 1, answer(true)), result('b', 1, answer(false)), result('c', 1)])
    expect(metrics).toMatchObject({ recall: 1, mrr: 1, answer: 0.5 })
    expect(checkMinimums(metrics, { recall: 1, answer: 1 })).toMatchObject([
      { name: 'min-recall', holds: true },
      { name: 'min-answer', value: 0.5, holds: false },
    ])
  })

  it('compares answers with the baseline, and reports each newly wrong answer with its fault', () => {
    const run = { mode: 'fast', k: 50 }
    const baseline = makeBaseline([result('a', 1, answer(true)), result('b', 1, answer(false)), result('c', 1)], run)
    expect(baseline.questions).toMatchObject({ a: { answer: true }, b: { answer: false } })
    expect(baseline.questions.c).not.toHaveProperty('answer')
    const now = [result('a', 1, answer(false)), result('b', 1, answer(true)), result('c', 1, answer(false))]
    expect(compareToBaseline(now, baseline, 0)).toMatchObject({ broken: ['a'], worse: ['a'] })
    const comparison = compareToBaseline(now.slice(0, 1), baseline, 0)
    expect(comparison.checks).toMatchObject([
      { holds: true },
      { holds: true },
      { name: 'baseline-answer', holds: false },
    ])
    const report = makeGoldenReport(now, run, [], comparison)
    expect(formatGoldenReport(report).join('\n')).toMatch(
      /Wrong answers:\n {2}a\n {4}not in the answer: "four weeks"\n {4}in the answer: "two weeks"[\s\S]*No longer right:\n {2}a\n/,
    )
    expect(formatJunit(report)).toContain('name="a"><failure message="the answer is no longer right"/>')
  })
})

describe('a JUnit report', () => {
  it('contains any question as well-formed XML', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (question) => {
        const results = [result('a', 1, { question }), result('b', 0, { status: 'failed', error: question })]
        const xml = formatJunit(makeGoldenReport(results, { mode: 'fast', k: 50 }, [], undefined))
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

describe('a golden question', () => {
  it('accepts its labels in each of their forms', () => {
    expect(parseGoldenCase({ question: 'x', expect: 'a.md' }, 'f').anchors).toEqual([
      { document: 'a.md', heading: [], quote: undefined },
    ])
    const stored = { question: 'x', metadata: { expect: [{ document: 'a.md', heading: 'One' }], answerable: true } }
    expect(parseGoldenCase(stored, 'f')).toMatchObject({ anchors: [{ heading: ['One'] }], answerable: true })
    const judged = { question: 'x', metadata: { annotation: { answerCorrectness: 'not-answerable' } } }
    expect(parseGoldenCase(judged, 'f').answerable).toBe(false)
    expect(parseGoldenCase({ question: 'x' }, 'f')).toMatchObject({ anchors: [], answerable: undefined })
  })

  it('accepts its expected answer next to its labels or in the metadata', () => {
    const anchor = { document: 'a.md', heading: [], quote: 'q' }
    const answer = { answer: ['four weeks'], not: ['two weeks'], state: 'answerable' }
    const read = (expected: unknown, metadata = {}) =>
      parseGoldenCase({ question: 'x', expect: expected, metadata }, 'f')
    expect(read(answer)).toMatchObject({ anchors: [], expect: answer, answerable: true })
    expect(read([{ document: 'a.md', quote: 'q' }, answer])).toMatchObject({ anchors: [anchor], expect: answer })
    expect(read({ document: 'a.md', quote: 'q', answer: 'four weeks' })).toMatchObject({
      anchors: [anchor],
      expect: { answer: ['four weeks'] },
    })
    expect(read(answer, { expect: ['a.md'] })).toMatchObject({ anchors: [{ document: 'a.md' }], expect: answer })
    expect(read(undefined, { expect: answer })).toMatchObject({ anchors: [], expect: answer })
    expect(read({ state: 'not-enough-evidence' })).toMatchObject({ answerable: false })
    expect(read({ not: ['two weeks'] })).toMatchObject({ answerable: undefined })
    const imported = parseGoldenLines(JSON.stringify({ question: 'x', expect: ['a.md', answer] }))
    expect(imported).toMatchObject([{ expect: answer, metadata: { expect: [{ document: 'a.md' }] } }])
  })

  it.each([
    [null, 'f must be an object with a question'],
    [{}, 'f must have a question'],
    [{ question: 'x', tags: 'a' }, 'f: tags must be a list of texts'],
    [{ question: 'x', answerable: 'no' }, 'f: answerable must be true or false'],
    [{ question: 'x', expect: [{ document: 'a', page: 3 }] }, 'f: expect 1 has an unknown key "page"'],
    [{ question: 'x', expect: { answer: [4] } }, 'f: expect 1: answer must be a list of texts'],
    [{ question: 'x', expect: { answer: [' '] } }, 'f: expect 1: answer has a blank text'],
    [{ question: 'x', expect: { not: ['a'.repeat(501)] } }, 'not has a text of more than 500 characters'],
    [{ question: 'x', expect: { answer: Array(21).fill('a') } }, 'answer has more than 20 texts'],
    [{ question: 'x', expect: { state: 'sure' } }, 'state must be one of answerable, partial'],
    [{ question: 'x', expect: { answer: [] } }, 'f: expect 1 must contain a text or a state'],
    [{ question: 'x', expect: [{ not: ['a'] }, { not: ['b'] }] }, 'f: expect 2 is a second expected answer'],
  ])('causes an error with its position for %j', (value, message) => {
    expect(() => parseGoldenCase(value, 'f')).toThrow(message)
  })
})
