import { findDates, type WrittenDate } from '../../lib/text/dates.js'

/** Lines and characters at the top of a text in which a document states its date. */
const MAX_TOP_LINES = 12
const MAX_TOP_CHARACTERS = 1500
/** Maximum number of words of a label or a location before the date: `Stand:`, `Mis à jour le`, `Hexley,`. */
const MAX_WORDS_BEFORE = 5
const MAX_TITLE_WORDS = 12
const FILENAME_DAY = /(?<!\d)((?:19|20)\d\d)([-_.]?)(0[1-9]|1[0-2])(?:\2(0[1-9]|[12]\d|3[01]))?(?!\d)/gu
const FILENAME_YEAR = /(?:^|[-_ .])((?:19|20)\d\d)$/u

/**
 * Finds the date that a text states about itself near its top: a short line that ends with a date, after a label, a
 * location or nothing, in any language; else a date in its first line, which is its title. As ISO 8601; a month as its
 * first day.
 */
export function findStatedDate(text: string): string | undefined {
  const lines = text
    .slice(0, MAX_TOP_CHARACTERS)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(0, MAX_TOP_LINES)
  for (const [index, line] of lines.entries()) {
    const date = findDates(line).findLast(hasYearAndMonth)
    if (date === undefined) continue
    const before = countWordsIn(line.slice(0, date.start))
    const isAtEnd = /^(?:[\s.)\]*_]|,?\s*\d{1,2}[:.]\d{2}\b.*)*$/u.test(line.slice(date.end))
    const isTitle = index === 0 && countWordsIn(line) <= MAX_TITLE_WORDS
    if (isTitle || (isAtEnd && before <= MAX_WORDS_BEFORE)) return toIsoDate(date)
  }
  return undefined
}

/**
 * Finds the day, or the month, in a file name or in the name of its nearest folder: `2024-03-05-minutes.txt`,
 * `2024-03`.
 */
export function findDateInFilename(filename: string): string | undefined {
  for (const part of filename.split('/').reverse()) {
    const match = [...part.matchAll(FILENAME_DAY)].at(-1)
    // Six digits are no month: they are the number of a ticket.
    if (match === null || match === undefined || (match[2] === '' && match[4] === undefined)) continue
    return toIsoDate({
      year: Number(match[1]),
      month: Number(match[3]),
      ...(match[4] === undefined ? {} : { day: Number(match[4]) }),
    })
  }
  return undefined
}

/** Finds the year at the end of a file's name, as its first day: `handbook-2023.md`. */
export function findYearInFilename(filename: string): string | undefined {
  const name = (filename.split('/').at(-1) ?? '').replace(/\.[^.]*$/u, '')
  const year = FILENAME_YEAR.exec(name)?.[1]
  return year === undefined ? undefined : `${year}-01-01`
}

function hasYearAndMonth({ year, month }: WrittenDate): boolean {
  return year !== undefined && month !== undefined
}

function toIsoDate({ year = 0, month = 1, day = 1 }: Pick<WrittenDate, 'year' | 'month' | 'day'>): string {
  return [String(year).padStart(4, '0'), ...[month, day].map((part) => String(part).padStart(2, '0'))].join('-')
}

function countWordsIn(text: string): number {
  return text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0
}
