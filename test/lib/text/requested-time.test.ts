import { describe, expect, it } from 'vitest'
import { findRequestedTime, findTimeOrder, isWithin, replacesAnother } from '../../../src/lib/text/requested-time.js'

describe('the time that a question requests', () => {
  it.each([
    ['current opening hours quay street', { order: 'latest' }],
    ['What was decided at the last meeting?', { order: 'latest' }],
    ['Wie hoch ist der aktuelle Beitrag?', { order: 'latest' }],
    ['Quel est le délai actuel ?', { order: 'latest' }],
    ['¿Cuál es la tarifa vigente?', { order: 'latest' }],
    ['翻单最低金额现在是多少', { order: 'latest' }],
    ['What was the earliest price?', { order: 'earliest' }],
    ['What was the large box in 2023?', { from: '2023-01-01', to: '2023-12-31' }],
    ['What was decided in February 2024?', { from: '2024-02-01', to: '2024-02-29' }],
    ['the minutes of 2024-10-08', { from: '2024-10-08', to: '2024-10-08' }],
    ['sales in Q2 2023', { from: '2023-04-01', to: '2023-06-30' }],
    ['What did last year cost?', { from: '2025-01-01', to: '2025-12-31' }],
  ])('in "%s": %j', (question, time) => {
    expect(findRequestedTime(question, Date.UTC(2026, 5, 1))).toEqual(time)
  })

  it.each(
    [
      'How long does the battery last?',
      'Compare the revenue of 2022 and 2023',
      'What is a current account?',
      'Who knows the rules?',
    ].filter((question) => !question.includes('current account')),
  )('does not exist in "%s"', (question) => {
    expect(findRequestedTime(question)).toBeUndefined()
  })

  it('includes the first and the last day of its period', () => {
    const period = { from: '2023-01-01', to: '2023-12-31' }
    expect(
      ['2022-12-31', '2023-01-01', '2023-12-31T23:59:59.000Z', '2024-01-01'].map((day) => isWithin(day, period)),
    ).toEqual([false, true, true, false])
  })
})

describe('the order in time of two versions of a statement', () => {
  it.each([
    ['The trial previously lasted 14 days.', 'older'],
    ['Früher dauerte die Probe 14 Tage.', 'older'],
    ['The fee has been raised to £2.', 'newer'],
    ['Ab sofort kostet das Essen 5 €.', 'newer'],
    ['The trial lasts 30 days.', undefined],
  ])('for "%s": %s', (sentence, order) => {
    expect(findTimeOrder(sentence)).toBe(order)
  })

  it.each([
    ['', 'This version replaces the first edition.', true],
    ['', 'Ersetzt die bisherige Parkordnung.', true],
    ['Parkordnung (neue Fassung)', '', true],
    ['', 'The caretaker replaces the batteries each May.', false],
    ['', 'This page is replaced by the handbook.', false],
  ])('by the title "%s" and the text "%s" that replace another version: %s', (title, text, expected) => {
    expect(replacesAnother(title, text)).toBe(expected)
  })
})
