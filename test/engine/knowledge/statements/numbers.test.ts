import { describe, expect, it } from 'vitest'
import { parseNumberAt } from '../../../../src/engine/knowledge/statements/numbers.js'

const read = (text: string, isGerman = false, at = 0) => parseNumberAt(text.split(' '), at, isGerman)
const numberIn = (text: string, isGerman = false) => read(text, isGerman)?.value

describe('the parser of numbers', () => {
  const ENGLISH =
    'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'
  const GERMAN =
    'null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn zwanzig'
  it.each([ENGLISH, GERMAN])('parses the words from zero to twenty: %s', (words) => {
    expect(words.split(' ').map((word) => numberIn(word))).toEqual(Array.from({ length: 21 }, (_, value) => value))
  })

  it('parses the words for tens, with and without ones after them', () => {
    const tens = [30, 40, 50, 60, 70, 80, 90]
    expect('thirty forty fifty sixty seventy eighty ninety'.split(' ').map((word) => numberIn(word))).toEqual(tens)
    expect('dreißig vierzig fünfzig sechzig siebzig achtzig neunzig'.split(' ').map((word) => numberIn(word))).toEqual(
      tens,
    )
    expect(read('twenty one days')).toMatchObject({ value: 21, taken: 2, digits: 2, hasFraction: false })
    expect(read('ninety nine')).toMatchObject({ value: 99, taken: 2 })
    expect(read('twenty ten')).toMatchObject({ value: 20, taken: 1 })
    expect(read('thirty zero')).toMatchObject({ value: 30, taken: 1 })
    expect(read('ten two')).toMatchObject({ value: 10, taken: 1 })
    expect(read('nineteen two')).toMatchObject({ value: 19, taken: 1 })
  })

  it.each([
    ['dozen', 12],
    ['half', 0.5],
    ['eine', 1],
    ['einen', 1],
    ['einem', 1],
    ['two hundred', 200],
    ['3 thousand', 3000],
    ['1.5 million', 1_500_000],
    ['2 billion', 2e9],
    ['2 trillion', 2e12],
    ['4 bn', 4e9],
    ['4 mio', 4e6],
    ['zwei hundert', 200],
    ['fünf tausend', 5000],
    ['3 millionen', 3e6],
    ['3 milliarden', 3e9],
    ['two hundred thousand', 200_000],
    ['a hundred', 100],
    ['an million', 1e6],
    ['a thousands', 1000],
    ['3 hundreds', 300],
  ])('parses "%s" as %d', (text, value) => {
    expect(numberIn(text)).toBe(value)
  })

  it('parses decimal and thousands separators by language', () => {
    expect([numberIn('1.234', true), numberIn('1.234'), numberIn('1,234'), numberIn('1,234', true)]).toEqual([
      1234, 1.234, 1234, 1234,
    ])
    expect([numberIn('1.234,5', true), numberIn('12,345,678'), numberIn('3,5'), numberIn('1,234.5')]).toEqual([
      1234.5, 12_345_678, 3.5, 1234.5,
    ])
    expect(numberIn('1.2.3')).toBeUndefined()
  })

  it('returns undefined if no number begins at the token', () => {
    expect([read('apples'), read('a dog'), read('an hour'), parseNumberAt([], 0, false), read('the 5')]).toEqual(
      Array.from({ length: 5 }),
    )
    expect(read('the 5', false, 1)).toMatchObject({ value: 5 })
  })

  it('reports precision, fraction and whether the number looks like a year', () => {
    expect(read('1,200')).toMatchObject({ digits: 2, hasFraction: false, isPlain: false, taken: 1 })
    expect(read('1212')).toMatchObject({ digits: 4, isPlain: true })
    expect(read('0.50')).toMatchObject({ digits: 2, hasFraction: true, isPlain: false })
    expect(read('000')).toMatchObject({ digits: 1 })
    expect(read('7')).toMatchObject({ digits: 1 })
    expect(read('5 million people')).toMatchObject({ taken: 2, isPlain: false, digits: 1 })
    expect(read('twenty')).toMatchObject({ digits: 1, hasFraction: false, isPlain: false })
    expect(read('twelve')).toMatchObject({ digits: 2, isPlain: false })
    expect(read('half')).toMatchObject({ hasFraction: true })
  })
})
