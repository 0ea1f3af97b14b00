import { describe, expect, it } from 'vitest'
import { conclusionSign } from '../../../../src/engine/query/extractive/conclusion.js'
import { entriesAsked, segmentsOf, toldList, wantsList } from '../../../../src/engine/query/extractive/lists.js'

describe('a question for several things', () => {
  it.each([
    'List the exits.',
    'What are the exits?',
    'Which doors open?',
    'How do I light the lamp?',
    'What steps does it take?',
    'Welche Türen öffnen sich?',
    'Nenne die Ausgänge',
    'Comment allumer la lampe ?',
    '¿Cómo se enciende?',
    '有哪些出口？',
    '如何点灯？',
  ])('is one: %s', (question) => {
    expect(wantsList(question)).toBe(true)
  })

  it.each([
    'What is the exit?',
    'Which bus went there?',
    'Which glass is blue?',
    'When does it open?',
    'Wo ist die Tür?',
    '出口在哪里？',
  ])('is none: %s', (question) => {
    expect(wantsList(question)).toBe(false)
  })
})

describe('the lists of a text', () => {
  it('are told from what stands around them, with the sentence before them that ends in a colon', () => {
    expect(segmentsOf('Before it. You need:\n\n- a lamp\n- a wick\n\nAfter it.')).toEqual([
      'Before it. ',
      { intro: 'You need:', entries: ['a lamp', 'a wick'] },
      'After it.',
    ])
    expect(segmentsOf('You may.\n- a lamp\n- a wick')).toEqual([
      'You may.',
      { intro: '', entries: ['a lamp', 'a wick'] },
    ])
    expect(segmentsOf('你需要：\n- 灯\n- 油')).toEqual([{ intro: '你需要：', entries: ['灯', '油'] }])
  })

  it.each(['-', '*', '•', '–', '1.', '2)', '(a)', '123.'])('may be marked by %s', (mark) => {
    expect(segmentsOf(`${mark} a lamp\n  ${mark} a wick`)).toEqual([{ intro: '', entries: ['a lamp', 'a wick'] }])
  })

  it('have entries of several lines, and blank lines between', () => {
    expect(segmentsOf('- a lamp\n  of brass\n\n- a  wick')).toEqual([
      { intro: '', entries: ['a lamp of brass', 'a wick'] },
    ])
  })

  it('follow each other', () => {
    const found = segmentsOf('One:\n- a\n- b\nTwo:\n- c\n- d')
    expect(found).toEqual([
      { intro: 'One:', entries: ['a', 'b'] },
      { intro: 'Two:', entries: ['c', 'd'] },
    ])
  })

  it('are none of one entry, of paragraphs, of rules and of rows', () => {
    for (const text of ['- a lamp', 'No list at all.', '- - -\n* * *', '- a | b\n- c | d', '2026 was it.\n2027 is it.'])
      expect(
        segmentsOf(text).every((segment) => typeof segment === 'string'),
        text,
      ).toBe(true)
    const entries = (length: number) => segmentsOf(`- ${'x'.repeat(length)}\n- ${'x'.repeat(length)}`)
    expect(entries(198)).toHaveLength(1)
    expect(entries(198)[0]).toHaveProperty('entries')
    expect(typeof entries(199)[0]).toBe('string')
    expect(segmentsOf('- a lamp\n\nNo list.').join('')).toContain('- a lamp')
  })

  it('are told in a line, without the marks at the ends of entries', () => {
    expect(toldList({ intro: 'You need:', entries: ['a lamp;', 'a wick,', 'oil.'] })).toBe(
      'You need: a lamp; a wick; oil.',
    )
    expect(toldList({ intro: '', entries: ['a lamp', 'a wick'] })).toBe('a lamp; a wick.')
  })

  it('are cut after fifteen entries, or where they would be long', () => {
    const many = (count: number) => toldList({ intro: '', entries: Array.from({ length: count }, (_, i) => `e${i}`) })
    expect(many(15)).toMatch(/e14\.$/)
    expect(many(16)).toMatch(/e14; …$/)
    const long = (length: number) => toldList({ intro: 'x'.repeat(99), entries: ['y'.repeat(length), 'z'] })
    expect(long(798)).toMatch(/y; z\.$/)
    expect(long(799)).toMatch(/y; …$/)
  })

  it('give those entries that hold more of the question than their opening', () => {
    const count = (text: string) => (text.match(/lamp|oil/g) ?? []).length
    const entries = ['a brass fitting', 'oil', 'a lamp']
    expect(entriesAsked({ intro: '', entries }, count)).toEqual(entries)
    expect(entriesAsked({ intro: 'You need:', entries }, count)).toEqual(['You need: oil', 'You need: a lamp'])
    expect(entriesAsked({ intro: 'For the lamp:', entries }, count)).toEqual([
      'For the lamp: oil',
      'For the lamp: a lamp',
    ])
    expect(entriesAsked({ intro: 'For it:', entries: ['a brass fitting'] }, count)).toEqual([])
  })
})

it.each<[-1 | 0 | 1, string]>([
  [1, 'We found that zinc helps.'],
  [1, 'These results suggest a cause.'],
  [1, 'Taken together, it helps.'],
  [1, '结果表明锌有效。'],
  [1, 'Zusammenfassend hilft es.'],
  [-1, 'Background: colds are common.'],
  [-1, 'Little is known of colds.'],
  [-1, 'We examined 300 adults.'],
  [-1, 'To determine whether zinc helps, adults were asked.'],
  [-1, '目的：研究锌。'],
  [1, 'We examined 300 adults and we found that zinc helps.'],
  [0, 'Zinc is a metal.'],
])('a sentence concludes (1), tells the background (-1) or neither: %i, %s', (sign, sentence) => {
  expect(conclusionSign(sentence)).toBe(sign)
})
