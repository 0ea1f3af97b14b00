import { describe, expect, it } from 'vitest'
import { apart, type Moment, readDates } from '../../../../src/engine/query/conflicts/dates.js'

/** Dates of a text, spelled as it is; `km` is the only unit. */
function datesOf(text: string) {
  const shown = text.split(' ')
  const tokens = shown.map((word) => word.toLowerCase())
  const taken = tokens.map(() => false)
  const moments = readDates(
    tokens,
    taken,
    (place) => /^\p{Lu}/u.test(shown[place] ?? ''),
    (word) => word === 'km',
  )
  return { moments, taken: taken.flatMap((is, place) => (is ? [place] : [])) }
}
const partsOf = (text: string) => datesOf(text).moments.map(({ shown: _, isLimit: __, ...parts }) => parts)

describe('dates of a clause', () => {
  it.each<[string, Partial<Moment>[]]>([
    ['on 3 May 2021 it rained', [{ day: 3, month: 5, year: 2021 }]],
    ['on 3 rd of May , 2021', [{ day: 3, month: 5, year: 2021 }]],
    ['on 3rd May', [{ day: 3, month: 5 }]],
    ['on 3 . Mai 2021', [{ day: 3, month: 5, year: 2021 }]],
    ['May 3 , 2021 was wet', [{ day: 3, month: 5, year: 2021 }]],
    ['May 31 st of 1999', [{ day: 31, month: 5, year: 1999 }]],
    ['in March 1850', [{ month: 3, year: 1850 }]],
    ['in september', [{ month: 9 }]],
    ['they may come', []],
    ['Dec 24', [{ month: 12, day: 24 }]],
    ['closed on mondays and Sunday', [{ weekday: 0 }, { weekday: 6 }]],
    ['am donnerstag und samstags', [{ weekday: 3 }, { weekday: 5 }]],
    ['in q3 2020', [{ quarter: 3, year: 2020 }]],
    ['q1 and q4', [{ quarter: 1 }, { quarter: 4 }]],
    ['q5', []],
    ['built in 1987', [{ year: 1987 }]],
    ['1500 people came', []],
    ['in 1500 people came', [{ year: 1500 }]],
    ['1987 km away', []],
    ['1987 - model', []],
    ['2100 dates', []],
    ['in 1066 it began', [{ year: 1066 }]],
    ['some 1066 it began', []],
    ['in 1066 visitors', []],
    ['seit 1250', [{ year: 1250 }]],
    ['the 1400 it began', [{ year: 1400 }]],
    ['3 apples', []],
    ['0 May', [{ month: 5 }]],
    ['32 May', [{ month: 5 }]],
    ['am 5 Dezember', [{ day: 5, month: 12 }]],
  ])('%s', (text, expected) => {
    expect(partsOf(text)).toEqual(expected)
  })

  it('are told as the text writes them, with the words that they take', () => {
    expect(datesOf('opened on 3 May , 2021 and 1999')).toMatchObject({
      moments: [{ shown: '3 may , 2021' }, { shown: '1999' }],
      taken: [2, 3, 4, 5, 7],
    })
    expect(datesOf('no date')).toEqual({ moments: [], taken: [] })
  })

  it('limit a fact behind a word that says from or until when', () => {
    const limits = (text: string) => datesOf(text).moments.map(({ isLimit }) => isLimit)
    for (const word of ['since', 'from', 'until', 'till', 'after', 'before', 'seit', 'bis', 'ab', 'as of'])
      expect([word, limits(`open ${word} 2019`)]).toEqual([word, [true]])
    expect([limits('open in 2019'), limits('summer of 2019')]).toEqual([[false], [false]])
  })

  it('are apart where a part that both say differs', () => {
    const moment = (parts: Partial<Moment>): Moment => ({ shown: '', isLimit: false, ...parts })
    const [day, other] = [moment({ year: 2020, month: 5, day: 3 }), moment({ year: 2020, month: 5, day: 4 })]
    expect([apart(day, day), apart(day, other), apart(other, day)]).toEqual([false, true, true])
    for (const part of ['year', 'month', 'day', 'weekday', 'quarter'] as const) {
      expect(apart(moment({ [part]: 1 }), moment({ [part]: 2 }))).toBe(true)
      expect(apart(moment({ [part]: 1 }), moment({}))).toBe(false)
      expect(apart(moment({}), moment({ [part]: 1 }))).toBe(false)
    }
  })
})
