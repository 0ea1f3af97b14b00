import { describe, expect, it } from 'vitest'
import { findDates } from '../../../src/lib/text/dates.js'

const partsOf = (text: string) => findDates(text).map(({ start: _, end: __, ...parts }) => parts)

describe('the date reader', () => {
  it.each([
    ['2024-03-05', [{ year: 2024, month: 3, day: 5 }]],
    ['minutes of 2024-03', [{ year: 2024, month: 3 }]],
    ['Stand: 15.09.2024', [{ year: 2024, month: 9, day: 15 }]],
    ['13/02/2024', [{ year: 2024, month: 2, day: 13 }]],
    ['02/13/2024', [{ year: 2024, month: 2, day: 13 }]],
    ['an ambiguous 03/04/2024', [{ year: 2024 }]],
    ['4 March 2021', [{ year: 2021, month: 3, day: 4 }]],
    ['March 4th, 2021', [{ year: 2021, month: 3, day: 4 }]],
    ['am 1. Februar 2022', [{ year: 2022, month: 2, day: 1 }]],
    ['le 3 septembre 2021', [{ year: 2021, month: 9, day: 3 }]],
    ['el 7 de mayo de 2020', [{ year: 2020, month: 5, day: 7 }]],
    ['2025年8月11日', [{ year: 2025, month: 8, day: 11 }]],
    ['by 31 July', [{ month: 7, day: 31 }]],
    ['every Tuesday and on Thursdays', [{ weekday: 1 }, { weekday: 3 }]],
    ['built in 1924 with', [{ year: 1924 }]],
    ['in Q3 2023', [{ year: 2023, quarter: 3 }]],
    ['In May 310 loans', [{ month: 5 }]],
  ])('reads %s', (text, parts) => {
    expect(partsOf(text)).toEqual(parts)
  })

  it.each(['it may rain', '1999 €', '2,400 euros', '31.02.2024', 'room 2024a', '12:30', 'they march'])(
    'finds no date in %s',
    (text) => {
      expect(partsOf(text).filter(({ month, day, weekday }) => month ?? day ?? weekday)).toEqual([])
    },
  )
})
