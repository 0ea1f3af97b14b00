import { lazy } from '../lazy.js'

/** Languages whose names of months, days, units and currencies are recognized. */
export const NAMED_LANGUAGES = 'en de fr es it pt nl sv da no pl tr ru zh ja'.split(' ')

/** 1 January 2024, a Monday, at noon */
const FIRST_MONDAY = Date.UTC(2024, 0, 1, 12)
const DAY_MS = 86_400_000

/** The month that a word names in one of the languages, 1 to 12. Short forms count. */
export function findMonth(word: string): number | undefined {
  return loadNames().months.get(toKey(word))
}

/** The weekday that a word names, 0 is Monday. `Mondays` and `lundis` count, short forms do not. */
export function findWeekday(word: string): number | undefined {
  const key = toKey(word)
  const { weekdays } = loadNames()
  return weekdays.get(key) ?? weekdays.get(key.replace(/s$/u, ''))
}

function toKey(word: string): string {
  return word.toLowerCase().replace(/\.$/u, '')
}

/** Names from the locale data of the runtime, as used within a date and alone. */
const loadNames = lazy((): { months: Map<string, number>; weekdays: Map<string, number> } => {
  const months = new Map<string, number>()
  const weekdays = new Map<string, number>()
  const add = (map: Map<string, number>, name: string | undefined, value: number): void => {
    const key = toKey(name ?? '')
    if (/^\p{L}{3,}$/u.test(key) && !map.has(key)) map.set(key, value)
  }
  for (const language of NAMED_LANGUAGES) {
    const formats = [{ month: 'long', day: 'numeric' }, { month: 'long' }, { month: 'short', day: 'numeric' }] as const
    for (const format of formats) {
      const formatter = new Intl.DateTimeFormat(language, { ...format, timeZone: 'UTC' })
      for (let month = 1; month <= 12; month++) {
        const parts = formatter.formatToParts(Date.UTC(2024, month - 1, 5))
        add(months, parts.find(({ type }) => type === 'month')?.value, month)
      }
    }
    const formatter = new Intl.DateTimeFormat(language, { weekday: 'long', timeZone: 'UTC' })
    for (let day = 0; day < 7; day++) add(weekdays, formatter.format(FIRST_MONDAY + day * DAY_MS), day)
  }
  return { months, weekdays }
})
