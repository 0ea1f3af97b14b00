import { expect, it } from 'vitest'
import { CURRENCY_SIGNS, INTERVALS, MONEY, unitOf } from '../../../../src/engine/query/conflicts/units.js'

/** How many of the second unit are one of the first. */
const ratio = (one: string, other: string) => {
  const [a, b] = [unitOf(one), unitOf(other)]
  expect(a?.measure).toBe(b?.measure)
  return (a?.factor ?? Number.NaN) / (b?.factor ?? Number.NaN)
}

it.each<[string, string, number]>([
  ['second', 'millisecond', 1000],
  ['minute', 's', 60],
  ['hour', 'minutes', 60],
  ['day', 'hrs', 24],
  ['week', 'tage', 7],
  ['fortnight', 'wochen', 2],
  ['year', 'months', 12],
  ['year', 'quartal', 4],
  ['decade', 'jahre', 10],
  ['century', 'decades', 10],
  ['year', 'days', 365.25],
  ['km', 'm', 1000],
  ['m', 'cm', 100],
  ['cm', 'mm', 10],
  ['mile', 'km', 1.609344],
  ['foot', 'inches', 12],
  ['yard', 'feet', 3],
  ['kg', 'g', 1000],
  ['g', 'mg', 1000],
  ['tonne', 'kilo', 1000],
  ['pound', 'ounces', 16],
  ['kb', 'bytes', 1024],
  ['mb', 'kb', 1024],
  ['gb', 'mb', 1024],
  ['tb', 'gb', 1024],
  ['kw', 'w', 1000],
  ['mw', 'kw', 1000],
  ['hp', 'watts', 745.7],
  ['kj', 'j', 1000],
  ['kcal', 'kj', 4.184],
  ['kwh', 'kj', 3600],
  ['kv', 'v', 1000],
  ['bar', 'pa', 100_000],
  ['bar', 'psi', 14.5038],
  ['litre', 'ml', 1000],
  ['gallon', 'liters', 3.785],
  ['ha', 'acres', 2.471],
  ['khz', 'hz', 1000],
  ['mhz', 'khz', 1000],
  ['ghz', 'mhz', 1000],
  ['m/s', 'km/h', 3.6],
  ['mph', 'kph', 1.609344],
  ['knot', 'km/h', 1.852],
])('one %s is so many %s', (one, other, count) => {
  expect(ratio(one, other)).toBeCloseTo(count, 3)
})

it('degrees of both scales are the same temperature where water freezes and boils', () => {
  const inBase = (value: number, word: string) => {
    const { factor = Number.NaN, offset = 0 } = unitOf(word) ?? {}
    return value * factor + offset
  }
  for (const word of ['°f', 'fahrenheit']) {
    expect(unitOf(word)?.measure).toBe(unitOf('°c')?.measure)
    expect([inBase(32, word), inBase(212, word)].map(Math.round)).toEqual([inBase(0, '°c'), inBase(100, 'celsius')])
  }
})

it('measures that are not each other stay apart, and what is none has no unit', () => {
  const words = 's m g b w j v ampere pa l ha hz km/h % degree °c € $ £ ¥ chf kronor cents decibel px'.split(' ')
  const measures = words.map((word) => unitOf(word)?.measure)
  expect(measures).not.toContain(undefined)
  expect(measures).not.toContain('')
  expect(new Set(measures).size).toBe(words.length)
  expect([unitOf('apple'), unitOf('')]).toEqual([undefined, undefined])
  const money = ['€', '$', '£', '¥', 'chf', 'kronor', 'cents'].map((word) => unitOf(word)?.measure ?? '')
  expect(money.filter((measure) => !MONEY.has(measure))).toEqual([])
  expect([MONEY.has('time'), MONEY.has('share')]).toEqual([false, false])
  for (const sign of CURRENCY_SIGNS) expect([sign, MONEY.has(unitOf(sign)?.measure ?? '')]).toEqual([sign, true])
  expect([...CURRENCY_SIGNS].sort()).toEqual(['$', 'chf', 'eur', 'gbp', 'usd', '£', '¥', '€'])
})

it('words for how often are as long as their units', () => {
  const DAY = 24 * 3600
  const expected: [string[], number][] = [
    [['hourly'], 3600],
    [['daily', 'nightly', 'täglich'], DAY],
    [['weekly', 'wöchentlich'], 7 * DAY],
    [['fortnightly'], 14 * DAY],
    [['monthly', 'monatlich'], (365.25 * DAY) / 12],
    [['quarterly'], (365.25 * DAY) / 4],
    [['annually', 'yearly', 'jährlich'], 365.25 * DAY],
  ]
  for (const [words, seconds] of expected) for (const word of words) expect(INTERVALS.get(word)).toBeCloseTo(seconds, 3)
})
