import { describe, expect, it } from 'vitest'
import { findFollowUp } from '../../../../../src/engine/retrieval/query/follow-up.js'
import { chooseQuotation, MAX_PASSAGES } from '../../../../../src/engine/retrieval/query/quotation/quote.js'

/** Inverse document frequency of a rare term. */
const RARE = 3

interface Passage {
  text: string
  title?: string
  score?: number
}
const quotationOf = (query: string, passages: Passage[], before?: string) =>
  chooseQuotation({
    query,
    idf: () => RARE,
    passages: passages.map(({ text, title = '', score = 0.9 }) => ({ text, title, source: '', score })),
    followUp: before === undefined ? undefined : findFollowUp(query, [{ query: before, answer: '' }]),
  })
const textsOf = (...request: Parameters<typeof quotationOf>) =>
  quotationOf(...request)?.units.map(({ unit }) => unit.text)

const TOWER = { text: 'The tower of Brest is 40 metres high.' }
const LAMP = { text: 'The lamp of the tower of Brest was lit in 1908.' }
const CANTEEN = { text: 'The canteen serves soup at noon.' }

describe('the probability of a quotation', () => {
  it.each([
    ['How high is the tower of Brest?', TOWER],
    ['When was the lamp of the tower of Brest lit?', LAMP],
    ['When does the canteen serve soup?', CANTEEN],
    ['How often is the vault code changed?', { text: 'The vault code is changed every ninety days.' }],
  ])('reaches at least 0.7 if a block answers the question: %s', (query, passage) => {
    expect(quotationOf(query, [passage])?.probability).toBeGreaterThanOrEqual(0.7)
  })

  it.each([
    'Who painted the ceiling of the opera house?',
    'How high is the lighthouse of Cork?',
    'What does a parking permit cost in Bremen?',
  ])('stays below 0.5 if no block is about the question: %s', (query) => {
    const others = [
      'Dogs are allowed in the park.',
      'We moved to a larger office.',
      'The boats are white.',
      'Press twice.',
    ]
    const passages = [CANTEEN, LAMP, ...others.map((text) => ({ text }))].map((one) => ({ ...one, score: 0.2 }))
    expect(quotationOf(query, passages)?.probability).toBeLessThan(0.5)
  })
})

describe('a quotation', () => {
  it('does not exist without a block of text', () => {
    expect(quotationOf('How high is the tower of Brest?', [])).toBeUndefined()
    expect(quotationOf('How high is the tower of Brest?', [{ text: ' \n' }])).toBeUndefined()
  })

  it('contains the text below a heading that repeats the question', () => {
    const text = 'How long is the warranty?\n\nTwo years from the day of purchase.'
    expect(textsOf('How long is the warranty?', [{ text }])).toEqual(['Two years from the day of purchase.'])
  })

  it('lists its units by passage and in reading order', () => {
    const text = 'The boats are rare.\n\nThe tower of Brest is 40 metres high.'
    const quotation = quotationOf('Which tower of Brest has a lamp?', [LAMP, { text }, TOWER])
    const positions = quotation?.units.map(({ passage, unit }) => passage * 1000 + unit.start) ?? []
    expect(positions.length).toBeGreaterThan(1)
    expect(positions).toEqual([...positions].sort((a, b) => a - b))
  })

  it('contains no text beyond the first MAX_PASSAGES passages', () => {
    const others = Array.from({ length: MAX_PASSAGES }, () => CANTEEN)
    expect(textsOf('How high is the tower of Brest?', [...others.slice(1), TOWER])).toContain(TOWER.text)
    expect(textsOf('How high is the tower of Brest?', [...others, TOWER])).not.toContain(TOWER.text)
  })
})

describe('a quotation for a follow-up question', () => {
  const DUTY = [
    { text: 'In August, Ida Keller is on call.' },
    { text: 'In September, Ben Ito is on call.' },
    { text: 'The library is closed on Sundays and in September.' },
  ]
  const BEFORE = 'Who is on call in August?'

  it('contains blocks with the terms of the follow-up, from passages about the previous question', () => {
    expect(textsOf('And in September?', DUTY, BEFORE)).toEqual(['In September, Ben Ito is on call.'])
    expect(textsOf('And on Sundays?', DUTY, BEFORE)).toBeUndefined()
  })

  it('can come from passages about another subject if the follow-up is a complete question', () => {
    const library = [{ text: 'The library is closed on Sundays.' }]
    expect(textsOf('And when is the library closed?', library, BEFORE)).toEqual(['The library is closed on Sundays.'])
    expect(textsOf('And Sundays?', library, BEFORE)).toBeUndefined()
  })

  it('contains blocks with the requested type of answer if the follow-up has no terms of its own', () => {
    const office = [{ text: 'The office is in Cork.\n\nThe office opened in 1994.' }]
    expect(textsOf('And when?', office, 'Did the office open?')).toEqual(['The office opened in 1994.'])
    expect(textsOf('And when?', [{ text: 'The office is open.' }], 'Did the office open?')).toBeUndefined()
  })

  it('does not exist if the follow-up requests nothing definite', () => {
    expect(textsOf('And then?', DUTY, BEFORE)).toBeUndefined()
  })
})
