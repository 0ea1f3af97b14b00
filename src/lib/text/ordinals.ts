import { getVotes, LanguageVotes } from './detect.js'
import { LANGUAGE_MARKS } from './function-words.js'
import type { Language } from './languages.js'
import { QUERY_STOP_WORDS } from './stop-words.js'

/**
 * Ordinals that are a number with a full stop: `bis zum 31. Juli`, `14. Sitzung`, `14. oldal`. English, the Romance
 * languages and others have none, so the words around the number decide.
 */
const ORDINAL_LANGUAGES = ['de', 'da', 'no', 'fi', 'hu', 'tr', 'pl', 'cs', 'sr'] as const satisfies readonly Language[]

/** Characters before and after the number that are used to detect the language. */
const CONTEXT_CHARACTERS = 240
/** Longer numbers are years and counts. */
const NUMBER = String.raw`(?:\d{1,3}|[IVXL]{2,6})$`
const NUMBER_ALONE = new RegExp(`^[\\s"'„“«(\\[]*${NUMBER}`, 'u')
/** A word in lower case, a comma, or the first number of a date. After a noun the number is a count. */
const LEAD_IN = new RegExp(
  `(?:(?<!\\p{L})\\p{Ll}[\\p{Ll}\\p{M}]*|[,;/–-]|(?<!\\d)\\d{1,3}\\.)["'„“«(]?\\s+${NUMBER}`,
  'u',
)
/** The word before the number if it begins the sentence. */
const FIRST_WORD = new RegExp(`^[\\s"'„“«(\\[]*([\\p{L}\\p{M}]+)\\s+${NUMBER}`, 'u')
const NEXT_WORD = /^\s+["'„“«([]*([\p{L}\p{M}]+|\d+)/u
const WORDS = /[\p{L}\p{M}]+/gu

/** Shared by all texts, because it is never used across an `await`. */
const ballot = new LanguageVotes()

let functionWords: ReadonlySet<string> | undefined
let months: ReadonlySet<string> | undefined

/** A sentence may begin with one of these; a noun after an ordinal is none of them. */
function isFunctionWord(word: string): boolean {
  functionWords ??= new Set([
    ...QUERY_STOP_WORDS,
    ...ORDINAL_LANGUAGES.flatMap((language) => LANGUAGE_MARKS[language].functionWords.split(' ')),
  ])
  return functionWords.has(word)
}

function isMonth(word: string): boolean {
  months ??= new Set(ORDINAL_LANGUAGES.flatMap(listMonths))
  return months.has(word)
}

function listMonths(language: string): string[] {
  const format = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'long', timeZone: 'UTC' })
  const dates = Array.from({ length: 12 }, (_, month) => new Date(Date.UTC(2000, month)))
  return dates.flatMap((date) =>
    format.formatToParts(date).flatMap(({ type, value }) => (type === 'month' ? [value.toLowerCase()] : [])),
  )
}

/**
 * Whether the full stop at `mark` belongs to an ordinal.
 *
 * @param start offset of the sentence
 */
export function isOrdinal(text: string, start: number, stopIndex: number): boolean {
  const before = text.slice(Math.max(start, stopIndex - CONTEXT_CHARACTERS), stopIndex)
  // a number alone is no sentence
  if (NUMBER_ALONE.test(before)) return true
  const [, firstWord = ''] = FIRST_WORD.exec(before) ?? []
  return (
    (LEAD_IN.test(before) || isFunctionWord(firstWord.toLowerCase())) &&
    leadsToNoun(before, text.slice(stopIndex + 1, stopIndex + 1 + CONTEXT_CHARACTERS))
  )
}

/** Whether the line break before a number with a full stop is within a date: `bis zum⏎31. Juli`. */
export function isWrappedDate(text: string, start: number, lineBreak: number): boolean {
  const [entry = ''] = /^\s*\d{1,2}(?=\.)/u.exec(text.slice(lineBreak, lineBreak + CONTEXT_CHARACTERS)) ?? []
  if (entry === '') return false
  const before = text.slice(Math.max(start, lineBreak - CONTEXT_CHARACTERS), lineBreak + entry.length)
  const after = text.slice(lineBreak + entry.length + 1, lineBreak + entry.length + CONTEXT_CHARACTERS)
  return LEAD_IN.test(before) && isMonth(getNextWord(after)) && leadsToNoun(before, after)
}

function getNextWord(text: string): string {
  return (NEXT_WORD.exec(text)?.[1] ?? '').toLowerCase()
}

function leadsToNoun(before: string, after: string): boolean {
  const next = getNextWord(after)
  if (next === '' || isFunctionWord(next)) return false
  ballot.clear()
  for (const word of `${before} ${after.replace(NEXT_WORD, '')}`.toLowerCase().match(WORDS) ?? [])
    ballot.add(getVotes(word))
  const { votes } = ballot.best('latin')
  return (
    ORDINAL_LANGUAGES.some((language) => ballot.count(language) === votes) &&
    (votes > ballot.count('en') || isMonth(next))
  )
}
