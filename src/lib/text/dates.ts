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
  let searchStart = 0
  for (const { index } of text.matchAll(DATE_START)) {
    if (index < searchStart) continue
    const match = matchNumericDate(text, index) ?? matchNamedDate(text, index)
    if (match === undefined) continue
    found.push({ ...match.parts, start: index, end: match.end })
    searchStart = match.end
  }
  return found
}

function matchNumericDate(text: string, start: number): { parts: DateParts; end: number } | undefined {
  NUMERIC.lastIndex = start
  const match = NUMERIC.exec(text)
  if (match === null) return undefined
  const end = start + match[0].length
  // part of a longer number, an amount, or a name with a number in it
  if (/^(?:\p{N}|[.,:]\d|\s?%|[-–]?\p{L})/u.test(text.slice(end, end + 3)) && !/^\p{Script=Han}/u.test(text.slice(end)))
    return undefined
  const { y, y2, y3, y4, y5, m, m2, m3, d, d2, d3, q, mark2 } = match.groups ?? {}
  const isShortYear = y2?.length === 2
  if (isShortYear && mark2 !== '.') return undefined
  const year = Number(y ?? (isShortYear ? `20${y2}` : y2) ?? y3 ?? y4 ?? y5)
  const yearPart = Number.isNaN(year) ? {} : { year }
  if (q !== undefined) return { parts: { ...yearPart, quarter: Number(q) }, end }
  const [month, day] = [Number(m ?? m2 ?? m3), Number(d ?? d2 ?? d3)]
  if (Number.isNaN(month)) return { parts: yearPart, end }
  // 5/3 is May in some countries and March in others.
  if (mark2 === '/' && day <= 12 && month <= 12 && day !== month) return { parts: yearPart, end }
  const isMonthFirst = mark2 === '/' && month > 12 && day <= 12
  return isValidDay(year, isMonthFirst ? day : month, isMonthFirst ? month : day)
    ? { parts: { ...yearPart, month: isMonthFirst ? day : month, ...toDayPart(isMonthFirst ? month : day) }, end }
    : undefined
}

function toDayPart(day: number): { day?: number } {
  return Number.isNaN(day) ? {} : { day }
}

function matchNamedDate(text: string, start: number): { parts: DateParts; end: number } | undefined {
  NAMED.lastIndex = start
  const match = NAMED.exec(text)
  if (match === null) return undefined
  const { day, name = '', after, year } = match.groups ?? {}
  const weekday = day === undefined ? findWeekday(name) : undefined
  const length = (day === undefined ? 0 : text.slice(start).indexOf(name)) + name.length
  if (weekday !== undefined) return { parts: { weekday }, end: start + length }
  const month = findMonth(name)
  if (month === undefined) return undefined
  const isAlone = day === undefined && after === undefined && year === undefined
  // `may`, `mars` and short forms are other words, too
  if (isAlone && !/^\p{Lu}/u.test(name)) return undefined
  if (isAlone && name.length < 4 && !/\p{Ll}\s$/u.test(text.slice(Math.max(0, start - 2), start))) return undefined
  const writtenDay = Number(day ?? after)
  if (!isValidDay(Number(year ?? 2024), month, writtenDay)) return undefined
  return {
    parts: { month, ...toDayPart(writtenDay), ...(year === undefined ? {} : { year: Number(year) }) },
    end: start + match[0].trimEnd().length,
  }
}

function isValidDay(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12) return false
  return Number.isNaN(day) || (day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate())
}
