import { describe, expect, it } from 'vitest'
import { isCurrencySign, isMoney, unitNamed } from '../../../../src/engine/query/conflicts/measures.js'

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
  ])('reads units in many languages: %s', (word, measure, factor) => {
    expect(unitNamed(word)).toMatchObject({ measure, factor })
  })

  it.each(['in', 'a', 'projector', 'room'])('finds no unit in %s', (word) => {
    expect(unitNamed(word)).toBeUndefined()
  })

  it('recognises currencies as money, and signs that precede their number', () => {
    expect([unitNamed('eur'), unitNamed('kg')].map((unit) => unit !== undefined && isMoney(unit))).toEqual([
      true,
      false,
    ])
    expect(['£', 'usd', 'kg'].map(isCurrencySign)).toEqual([true, true, false])
  })
})
