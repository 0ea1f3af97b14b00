import { describe, expect, it } from 'vitest'
import { isCurrencySign, isMoney, unitNamed } from '../../../../src/engine/query/conflicts/measures.js'

describe('the unit that a word names', () => {
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
  ])('is read in many languages: %s', (word, measure, factor) => {
    expect(unitNamed(word)).toMatchObject({ measure, factor })
  })

  it.each(['in', 'a', 'projector', 'room'])('is none for %s', (word) => {
    expect(unitNamed(word)).toBeUndefined()
  })

  it('is money for currencies, whose signs precede their number', () => {
    expect([unitNamed('eur'), unitNamed('kg')].map((unit) => unit !== undefined && isMoney(unit))).toEqual([
      true,
      false,
    ])
    expect(['£', 'usd', 'kg'].map(isCurrencySign)).toEqual([true, true, false])
  })
})
