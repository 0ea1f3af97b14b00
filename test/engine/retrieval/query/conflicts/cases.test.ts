import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { findContradictions } from '../../../../../src/engine/retrieval/query/conflicts/contradictions.js'
import { analyzeQuery } from '../../../../../src/lib/text/analyze.js'
import { replacesAnother } from '../../../../../src/lib/text/requested-time.js'

interface Side {
  title: string
  text: string
}
interface Case {
  question: string
  style: string
  one: Side
  other: Side
  expect: 'conflict' | 'agree' | 'newer'
}
const CASES: Case[] = readFileSync(new URL('cases.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))

function judge({ question, one, other }: Case): Case['expect'] {
  const items = [one, other].map((side, index) => ({
    ...side,
    document: String(index),
    replaces: replacesAnother(side.title, side.text),
  }))
  const { conflicts, differences } = findContradictions(question, analyzeQuery(question), () => 2, items)
  if (conflicts.length > 0) return 'conflict'
  return differences.some(({ newer }) => newer === 1) ? 'newer' : 'agree'
}

/** Cases that need more than structure: a condition of one side, a synonym. */
const OPEN = new Set(['Are dogs allowed in the reading room?', 'What is the maximum weight of a parcel?'])

describe('two documents', () => {
  const of = (expected: Case['expect']) =>
    CASES.filter(({ expect: one, question }) => one === expected && !OPEN.has(question)).map(
      (one) => [one.question, one.style, one] as const,
    )

  it.each(of('conflict'))('contradict each other regardless of their headings: %s (%s)', (_, __, one) => {
    expect(judge(one)).toBe('conflict')
  })

  it.each(of('agree'))(
    'do not contradict each other if they agree or concern different things: %s (%s)',
    (_, __, one) => {
      expect(judge(one)).not.toBe('conflict')
    },
  )

  it.each(of('newer'))(
    'do not contradict each other if one states that it replaces the other: %s (%s)',
    (_, __, one) => {
      expect(judge(one)).toBe('newer')
    },
  )
})

describe('documents with different dates', () => {
  const items = (days: (string | undefined)[]) =>
    ['Two days from home are allowed each week.', 'Three days from home are allowed each week.'].map((text, index) => ({
      title: '',
      text,
      document: String(index),
      ...(days[index] === undefined ? {} : { day: days[index] }),
    }))
  const judgeDays = (...days: (string | undefined)[]) => {
    const question = 'How many days from home are allowed?'
    return findContradictions(question, analyzeQuery(question), () => 2, items(days))
  }

  it('do not contradict each other: the later document is newer', () => {
    expect(judgeDays('2024-06-01T00:00:00.000Z', '2022-03-01')).toMatchObject({
      conflicts: [],
      differences: [{ kind: 'newer', newer: 0 }],
    })
    expect(judgeDays('2022-03-01', '2024-06-01').differences).toMatchObject([{ newer: 1 }])
  })

  it('contradict each other if the dates are equal or one document has no date', () => {
    expect(judgeDays('2024-06-01T08:00:00.000Z', '2024-06-01').conflicts).toHaveLength(1)
    expect(judgeDays('2024-06-01', undefined).conflicts).toHaveLength(1)
  })
})
