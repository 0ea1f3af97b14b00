import { LANGUAGES } from '../../../lib/text/languages.js'
import { parseNumberAt } from '../statements/numbers.js'

// Numbers, months and weekdays as keys that are equal where the values are equal, in digits or in words.

const TOKEN = /\d+(?:[.,]\d+)*|\p{L}[\p{L}\p{M}]*/gu
const DIGITS = /^\d/
/** The minutes of a full hour. */
const ZEROS = /^00$/
/** Maximum number of tokens between a month and its day or year: `5 de março`. */
const MAX_DATE_DISTANCE = 2
const YEAR_FIRST = /\b\d{4}-(\d{1,2})-\d{1,2}\b/g
const YEAR_LAST = /\b(\d{1,2})[./-](\d{1,2})[./-]\d{4}\b/g

/** Returns the keys of all facts in a text. */
export function findFacts(text: string): Set<string> {
  const facts = new Set<string>()
  const tokens = text.match(TOKEN) ?? []
  const words = tokens.map((token) => token.toLowerCase())
  for (const [index, token] of tokens.entries()) {
    for (const { value, isScaled } of readNumbersAt(words, index)) {
      facts.add(`number ${value}`)
      if (!isScaled) facts.add(`bare ${value}`)
    }
    const date = findDateKey(token, 'any')
    if (date === undefined) continue
    facts.add(date)
    facts.add(date.replace('month', 'number'))
  }
  for (const key of findMonths(text).flat()) facts.add(key)
  return facts
}

/** Months of dates in digits, each with its alternative keys: `3/5/2024` is in March or in May. */
function findMonths(text: string): string[][] {
  const dates = [...text.matchAll(YEAR_FIRST), ...text.matchAll(YEAR_LAST)]
  return dates.map(([, ...parts]) => parts.map((part) => `month ${Number(part)}`))
}

/** Facts that a statement claims, each with its alternative keys: `2 million` may be `2` in a table of millions. */
export function findClaims(statement: string): string[][] {
  const tokens = statement.match(TOKEN) ?? []
  const words = tokens.map((token) => token.toLowerCase())
  const claims = findMonths(statement)
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index] ?? ''
    const values = readNumbersAt(words, index)
    if (values.length > 0 && !ZEROS.test(token)) {
      const keys = values.flatMap(({ value, bare, isScaled }) => [
        `number ${value}`,
        ...(isScaled ? [`bare ${bare}`] : []),
      ])
      claims.push(keys)
      index += (values[0]?.taken ?? 1) - 1
      continue
    }
    const date = findDateKey(token, 'long')
    const near = tokens.slice(Math.max(0, index - MAX_DATE_DISTANCE), index + MAX_DATE_DISTANCE + 1)
    if (date !== undefined && (date.startsWith('weekday') || near.some((one) => DIGITS.test(one)))) claims.push([date])
  }
  return claims
}

interface NumberReading {
  value: number | string
  /** without the word that multiplies it */
  bare: number | string
  isScaled: boolean
  taken: number
}

/** Possible values of the number at a token: the comma of `1,234` separates thousands or decimals. */
function readNumbersAt(words: readonly string[], index: number): NumberReading[] {
  const word = words[index] ?? ''
  const readings = [false, true].flatMap((isGerman) => {
    const number = parseNumberAt(words, index, isGerman)
    const bare = parseNumberAt([word], 0, isGerman)
    if (number === undefined || bare === undefined) return []
    return [{ value: number.value, bare: bare.value, isScaled: number.taken > 1, taken: number.taken }]
  })
  if (DIGITS.test(word))
    return readings.length > 0 ? readings : [{ value: word, bare: word, isScaled: false, taken: 1 }]
  // `one` is rarely a number.
  return readings.slice(0, 1).filter(({ value }) => value > 1)
}

const LONG = new Map<string, string>()
const SHORT = new Map<string, string>()

/** Key of a month or weekday; the token is spelled as in its language. */
function findDateKey(token: string, length: 'long' | 'any'): string | undefined {
  if (LONG.size === 0) for (const language of LANGUAGES) addDateNames(language)
  const known = LONG.get(token) ?? LONG.get(token.replace(/s$/, ''))
  return known ?? (length === 'any' ? SHORT.get(token) : undefined)
}

function addDateNames(language: string): void {
  const add = (names: Map<string, string>, options: Intl.DateTimeFormatOptions, kind: 'month' | 'weekday'): void => {
    const format = new Intl.DateTimeFormat(language, { ...options, calendar: 'gregory', timeZone: 'UTC' })
    for (let index = 0; index < (kind === 'month' ? 12 : 7); index++) {
      // 1 January 2024 is a Monday
      const date = kind === 'month' ? Date.UTC(2024, index, 1) : Date.UTC(2024, 0, index + 1)
      const name =
        format
          .formatToParts(date)
          .find(({ type }) => type === kind)
          ?.value.replace(/\.$/, '') ?? ''
      if (/^\p{L}[\p{L}\p{M}]*$/u.test(name) && !names.has(name)) names.set(name, `${kind} ${index + 1}`)
    }
  }
  add(LONG, { month: 'long' }, 'month')
  add(LONG, { month: 'long', day: 'numeric' }, 'month')
  add(LONG, { weekday: 'long' }, 'weekday')
  add(SHORT, { month: 'short' }, 'month')
}
