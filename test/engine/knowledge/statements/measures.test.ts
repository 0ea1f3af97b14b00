import { describe, expect, it } from 'vitest'
import { findUnit, isCurrencySign, isMoney } from '../../../../src/engine/knowledge/statements/measures.js'

describe('the parser of units', () => {
  it.each([
    ['days', 'time', 86_400],
    ['tagen', 'time', 86_400],
    ['semaines', 'time', 604_800],
    ['horas', 'time', 3600],
    ['小时', 'time', 3600],
    ['metres', 'length', 1],
    ['kg', 'mass', 1000],
    ['mb', 'data', 1024 ** 2],
    ['prozent', 'share', 1],
    ['€', 'EUR', 1],
    ['pounds', 'mass', 453.592],
  ])('finds units in many languages: %s', (word, measure, factor) => {
    expect(findUnit(word)).toMatchObject({ measure, factor })
  })

  it.each(['in', 'a', 'projector', 'room'])('finds no unit in %s', (word) => {
    expect(findUnit(word)).toBeUndefined()
  })

  it('recognizes currencies as money, and currency signs before a number', () => {
    expect([findUnit('eur'), findUnit('kg')].map((unit) => unit !== undefined && isMoney(unit))).toEqual([true, false])
    expect(['£', 'usd', 'kg'].map(isCurrencySign)).toEqual([true, true, false])
  })
})
