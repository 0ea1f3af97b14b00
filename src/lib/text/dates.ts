import { findMonth, findWeekday } from './calendar-names.js'

/** A date in a text with only the parts that are written; offsets in UTF-16 units. */
export interface WrittenDate {
  year?: number
  /** 1 to 12 */
  month?: number
  day?: number
  /** 0 is Monday */
  weekday?: number
  quarter?: number
  start: number
  end: number
}

type DateParts = Omit<WrittenDate, 'start' | 'end'>

const YEAR = '(?:1\\d|20)\\d\\d'
const NUMERIC = new RegExp(
  [
    `(?<y>${YEAR})(?<mark>[-/.])(?<m>\\d{1,2})(?:\\k<mark>(?<d>\\d{1,2}))?(?:T\\d{2}:[\\d:.]+Z?)?`,
    `(?<d2>\\d{1,2})(?<mark2>[./-])(?<m2>\\d{1,2})\\k<mark2>(?<y2>${YEAR}|\\d{2})`,
    `(?<y3>${YEAR})\\s?年(?:\\s?(?<m3>\\d{1,2})\\s?月(?:\\s?(?<d3>\\d{1,2})\\s?日)?)?`,
    `Q(?<q>[1-4])(?:[\\s/-]+(?<y4>${YEAR}))?`,
    `(?<y5>${YEAR})`,
  ].join('|'),
  'uy',
)
const ORDINAL = '(?:st|nd|rd|th|er|[.ºª])?'
const OF = '(?:(?:of|de|del|du|di)\\s+)?'
const NAMED = new RegExp(
  `(?:(?<day>\\d{1,2})${ORDINAL}(?:\\s+|-)${OF})?(?<name>\\p{L}{3,}\\.?)(?:\\s+(?<after>\\d{1,2})${ORDINAL}(?![\\d:.,]*\\d|\\s*\\p{L}))?(?:,?\\s+${OF}(?<year>${YEAR})(?!\\p{N}))?`,
  'uy',
)
const DATE_START = /(?<![\p{L}\p{N}])(?:\d|\p{L})/gu

/** Finds dates in a text, in order: numbers, names of months and weekdays in the languages of `calendar-names.ts`. */
export function findDates(text: string): WrittenDate[] {
  const found: WrittenDate[] = []
  let from = 0
  for (const { index } of text.matchAll(DATE_START)) {
    if (index < from) continue
    const match = matchNumericDate(text, index) ?? matchNamedDate(text, index)
    if (match === undefined) continue
    found.push({ ...match.parts, start: index, end: match.end })
    from = match.end
  }
  return found
}

function matchNumericDate(text: string, at: number): { parts: DateParts; end: number } | undefined {
  NUMERIC.lastIndex = at
  const match = NUMERIC.exec(text)
  if (match === null) return undefined
  const end = at + match[0].length
  // part of a longer number, an amount, or a name with a number in it
  if (/^(?:\p{N}|[.,:]\d|\s?%|[-–]?\p{L})/u.test(text.slice(end, end + 3)) && !/^\p{Script=Han}/u.test(text.slice(end)))
    return undefined
  const { y, y2, y3, y4, y5, m, m2, m3, d, d2, d3, q, mark2 } = match.groups ?? {}
  const short = y2?.length === 2
  if (short && mark2 !== '.') return undefined
  const year = Number(y ?? (short ? `20${y2}` : y2) ?? y3 ?? y4 ?? y5)
  const ofYear = Number.isNaN(year) ? {} : { year }
  if (q !== undefined) return { parts: { ...ofYear, quarter: Number(q) }, end }
  const [month, day] = [Number(m ?? m2 ?? m3), Number(d ?? d2 ?? d3)]
  if (Number.isNaN(month)) return { parts: ofYear, end }
  // 5/3 is May in some countries and March in others.
  if (mark2 === '/' && day <= 12 && month <= 12 && day !== month) return { parts: ofYear, end }
  const swapped = mark2 === '/' && month > 12 && day <= 12
  return isDay(year, swapped ? day : month, swapped ? month : day)
    ? { parts: { ...ofYear, month: swapped ? day : month, ...dayPart(swapped ? month : day) }, end }
    : undefined
}

function dayPart(day: number): { day?: number } {
  return Number.isNaN(day) ? {} : { day }
}

function matchNamedDate(text: string, at: number): { parts: DateParts; end: number } | undefined {
  NAMED.lastIndex = at
  const match = NAMED.exec(text)
  if (match === null) return undefined
  const { day, name = '', after, year } = match.groups ?? {}
  const weekday = day === undefined ? findWeekday(name) : undefined
  const length = (day === undefined ? 0 : text.slice(at).indexOf(name)) + name.length
  if (weekday !== undefined) return { parts: { weekday }, end: at + length }
  const month = findMonth(name)
  if (month === undefined) return undefined
  const isAlone = day === undefined && after === undefined && year === undefined
  // `may`, `mars` and short forms are other words, too
  if (isAlone && !/^\p{Lu}/u.test(name)) return undefined
  if (isAlone && name.length < 4 && !/\p{Ll}\s$/u.test(text.slice(Math.max(0, at - 2), at))) return undefined
  const written = Number(day ?? after)
  if (!isDay(Number(year ?? 2024), month, written)) return undefined
  return {
    parts: { month, ...dayPart(written), ...(year === undefined ? {} : { year: Number(year) }) },
    end: at + match[0].trimEnd().length,
  }
}

function isDay(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12) return false
  return Number.isNaN(day) || (day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate())
}
