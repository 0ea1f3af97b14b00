import { describe, expect, it } from 'vitest'
import { checkAnswer } from '../../../src/lib/text/expected-answer.js'

const contains = (text: string, wanted: string) =>
  checkAnswer({ answer: [wanted] }, { text, state: 'answerable' }).right

describe('an expected answer', () => {
  it('matches with another case, character width or white space', () => {
    expect(contains('Notice is FOUR\n  weeks.', 'four weeks')).toBe(true)
    expect(contains('Das kostet in der Hauptstraße neun', 'HAUPTSTRASSE')).toBe(true)
    expect(contains('ｆｏｕｒ weeks', 'four weeks')).toBe(true)
    expect(contains('Ο ΔΡΟΜΟΣ ΕΙΝΑΙ', 'δρόμος'.normalize('NFD'))).toBe(false)
    expect(contains('Ο ΔΡΌΜΟΣ ΕΊΝΑΙ', 'δρόμος'.normalize('NFD'))).toBe(true)
    expect(contains('期間は四週間です', '四週間')).toBe(true)
    expect(contains('four business weeks', 'four weeks')).toBe(false)
  })

  it('does not match within a longer number or in a citation mark', () => {
    expect(contains('It takes 15 days.', '5 days')).toBe(false)
    expect(contains('It takes 5.5 days.', '5')).toBe(false)
    expect(contains('It costs 1,200 crowns.', '200 crowns')).toBe(false)
    expect(contains('It takes 15 days, then 5 days.', '5 days')).toBe(true)
    expect(contains('In 2012-05, for 5.', '5')).toBe(true)
    expect(contains('It takes nine days [5].', '5')).toBe(false)
    expect(contains('It takes nine [5] days.', 'nine days')).toBe(true)
  })

  it('reports each missing text, each forbidden text and a wrong state', () => {
    const expectation = { answer: ['four weeks', 'written'], not: ['two weeks', 'oral'], state: 'answerable' }
    expect(checkAnswer(expectation, { text: 'Written notice of two weeks.', state: 'partial' })).toEqual({
      right: false,
      missing: ['four weeks'],
      forbidden: ['two weeks'],
      wrongState: { expected: 'answerable', actual: 'partial' },
    })
    expect(checkAnswer({ state: 'answerable' }, { text: '', state: 'answerable' })).toEqual({
      right: true,
      missing: [],
      forbidden: [],
    })
  })
})
