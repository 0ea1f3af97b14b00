import { describe, expect, it } from 'vitest'
import { areExclusive, type Quantity, readQuantities } from '../../../../src/engine/knowledge/statements/quantities.js'

const CONTENT = new Set('users vacation working seats plan report people request pages guests'.split(' '))
const DAY = 86_400

function read(text: string, isGerman = false) {
  const tokens = text.split(' ')
  const taken = tokens.map(() => false)
  const found = readQuantities({
    tokens,
    taken,
    isGerman,
    stemAt: (index) => (CONTENT.has(tokens[index] ?? '') ? tokens[index] : undefined),
    isIdentifier: () => false,
  })
  return { found, taken: taken.flatMap((is, place) => (is ? [place] : [])) }
}
const one = (text: string, isGerman = false): Quantity => {
  const { found } = read(text, isGerman)
  expect(found).toHaveLength(1)
  return found[0] ?? expect.fail(text)
}
const summarize = (text: string, isGerman = false) => {
  const { measure, low, high, bound } = one(text, isGerman)
  return [measure, low, high, bound]
}

describe('the quantities of a clause', () => {
  it.each<[string, unknown[]]>([
    ['it takes 3 days', ['time', 3 * DAY, 3 * DAY, 'exact']],
    ['it takes 3 working days', ['time', 3 * DAY, 3 * DAY, 'exact']],
    ['it takes up to 3 days', ['time', 3 * DAY, 3 * DAY, 'at most']],
    ['no later than the 3 days', ['time', 3 * DAY, 3 * DAY, 'at most']],
    ['at least 3 days', ['time', 3 * DAY, 3 * DAY, 'at least']],
    ['more than 3 days', ['time', 3 * DAY, 3 * DAY, 'over']],
    ['about 3 days', ['time', 3 * DAY, 3 * DAY, 'about']],
    ['the minimum is 3 days', ['time', 3 * DAY, 3 * DAY, 'at least']],
    ['the limit is 3 days', ['time', 3 * DAY, 3 * DAY, 'at most']],
    ['from 2 to 3 days', ['time', 2 * DAY, 3 * DAY, 'range']],
    ['3 to 2 days', ['time', 2 * DAY, 3 * DAY, 'range']],
    ['2 days to 3 days', ['time', 2 * DAY, 3 * DAY, 'range']],
    ['between 2 and 3 days', ['time', 2 * DAY, 3 * DAY, 'range']],
    ['it costs € 15', ['EUR', 15, 15, 'exact']],
    ['it costs 15 euros', ['EUR', 15, 15, 'exact']],
    ['it has 30 users', ['count', 30, 30, 'exact']],
    ['it is - 5 °c', ['temperature', -5, -5, 'exact']],
    ['it is every 6 months', ['interval', (365.25 * DAY) / 2, (365.25 * DAY) / 2, 'exact']],
    ['it is every day', ['interval', DAY, DAY, 'exact']],
    ['it is twice a day', ['interval', DAY / 2, DAY / 2, 'exact']],
    ['it is 3 times a day', ['interval', DAY / 3, DAY / 3, 'exact']],
    ['it is once weekly', ['interval', 7 * DAY, 7 * DAY, 'exact']],
    ['it runs daily', ['interval', DAY, DAY, 'exact']],
    ['the big pump runs daily at home', ['interval', DAY, DAY, 'exact']],
    ['it opens at 8 pm', ['clock', 20 * 60, 20 * 60, 'exact']],
    ['it opens at 12 am', ['clock', 0, 0, 'exact']],
    ['it opens at 12 pm', ['clock', 12 * 60, 12 * 60, 'exact']],
    ['it opens at 10:30', ['clock', 630, 630, 'exact']],
    ['it opens at 10:30 p', ['clock', 22 * 60 + 30, 22 * 60 + 30, 'exact']],
    ["it opens at 9 o'clock", ['clock', 540, 540, 'exact']],
    ['es öffnet um 7 uhr', ['clock', 420, 420, 'exact']],
    ['it opens at noon', ['clock', 720, 720, 'exact']],
    ['it closes at midnight', ['clock', 1440, 1440, 'exact']],
  ])('for "%s": %j', (text, expected) => {
    const [measure, low, high, bound] = summarize(text)
    expect([measure, Math.round(Number(low)), Math.round(Number(high)), bound]).toEqual([
      expected[0],
      ...expected.slice(1, 3).map((value) => Math.round(Number(value))),
      expected[3],
    ])
  })

  it('have the counted noun, the divisor and the text as it is written', () => {
    expect(one('it has 30 users')).toMatchObject({ counted: 'users', shown: '30 users', per: '' })
    expect(one('it has 30 of users')).toMatchObject({ counted: 'users', shown: '30 of users' })
    expect(one('the 30 grew')).toMatchObject({ counted: '', shown: '30' })
    expect(one('€ 15 per request')).toMatchObject({ per: 'request', shown: '€15', unit: '€', counted: '' })
    expect(one('5 euros a day').per).toBe(one('5 euros per day').per)
    expect(one('5 euros a day').per).not.toBe(one('5 euros an hour').per)
    expect(one('5 euros a day')).toMatchObject({ shown: '5 euros a day', unit: 'euros' })
    expect(one('it is - 5 °c').shown).toBe('-5 °c')
    expect(one('it has 5 users each request').per).toBe('')
  })

  it('consume their tokens except for those between number and unit', () => {
    expect(read('it takes 3 days').taken).toEqual([2, 3])
    expect(read('it takes 3 working days').taken).toEqual([2])
    expect(read('3 days and 5 euros').found.map(({ shown }) => shown)).toEqual(['3 days', '5 euros'])
    expect(read('nothing is said').found).toEqual([])
  })

  it('exclude an adjective that only distinguishes a thing, such as "the daily report"', () => {
    expect(read('it is the daily report').found).toEqual([])
    expect(read('daily report').found).toEqual([])
  })
})

describe('two quantities of one fact', () => {
  const excludes = (a: string, b: string) => {
    const there = areExclusive(one(a), one(b))
    // The comparison is symmetric.
    expect(areExclusive(one(b), one(a))).toBe(there)
    return there
  }

  it.each([
    ['3 days', '4 days'],
    ['3 days', '1 week'],
    ['up to 5 users', 'up to 6 users'],
    ['at least 5 users', 'at least 6 users'],
    ['up to 5 users', '6 users'],
    ['at least 5 users', '4 users'],
    ['more than 5 users', '4 users'],
    ['2 to 3 days', '4 days'],
    ['2 to 3 days', '4 to 5 days'],
    ['2 to 6 days', '5 to 9 days'],
    ['about 100 users', '120 users'],
    ['999 users', '998 users'],
    ['at 8 pm', 'at 9 pm'],
    ['1,212 users', '1,213 users'],
    ['1,000 users', '1,200 users'],
    ['5 euros per day', '6 euros per day'],
  ])('exclude each other: %s, %s', (a, b) => {
    expect(excludes(a, b)).toBe(true)
  })

  it.each([
    ['3 days', '72 hours'],
    ['1 mile', '1.6 km'],
    ['up to 5 users', '5 users'],
    ['up to 5 users', '3 users'],
    ['at least 5 users', '9 users'],
    ['more than 5 users', 'more than 9 users'],
    ['2 to 3 days', '3 days'],
    ['2 to 6 days', '3 to 9 days'],
    ['about 100 users', '109 users'],
    ['1,200 users', '1,212 users'],
    ['48,213 users', '48,000 users'],
    ['1.5 km', '1.52 km'],
  ])('agree: %s, %s', (a, b) => {
    expect(excludes(a, b)).toBe(false)
  })

  it.each([
    ['3 days', '3 users'],
    ['5 euros a day', '6 euros an hour'],
  ])('cannot be compared: %s, %s', (a, b) => {
    expect(excludes(a, b)).toBeUndefined()
  })
})
