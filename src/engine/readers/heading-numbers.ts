/** The number of a heading, which orders it among the others. */
export interface HeadingNumber {
  /** what is counted: `part`, `item`, …; `decimal` for `1.2` and `letter` for `A.` */
  kind: string
  /** smaller for outer kinds; all kinds without a word have the same */
  rank: number
  /** components of the number: 7A is [7, 1], 2.3 is [2, 3] */
  parts: number[]
}

/** Words before a number, outermost first: those of laws and books, in several languages. */
const KINDS: readonly (readonly [kind: string, words: string])[] = [
  ['book', 'book|buch|livre|libro'],
  ['part', 'part|teil|partie|parte|appendix|annex|anhang|annexe|schedule'],
  ['chapter', 'chapter|kapitel|chapitre|capítulo|capitolo'],
  ['item', 'item|article|artikel|artículo|articolo'],
  ['section', 'section|sec\\.|abschnitt|sección|sezione|§'],
]
const NUMBER = String.raw`(\d{1,3}(?:\.\d{1,3}){0,3})\s?([A-Z]?)(?![\p{L}\d])|([IVXLC]{1,7})(?![\p{L}\d])|([A-Z])(?![\p{L}\d])`
const WORD_PATTERNS = KINDS.map(([kind, words], rank) => ({
  kind,
  rank,
  pattern: new RegExp(`^(?:${words})[\\s\\u00a0]*(?:no\\.?\\s*)?(?:${NUMBER})`, 'iu'),
}))
const DECIMAL = /^(\d{1,2}(?:\.\d{1,2}){0,3})[.)]?[\s\u00a0]+\p{Lu}/u
const LETTER = /^\(?([A-Z])[.)][\s\u00a0]+\p{Lu}/u
const ROMAN = /^([IVX]{1,5})[.)][\s\u00a0]+\p{Lu}/u

/** Parses the number at the start of a line, if it has one. */
export function parseHeadingNumber(text: string): HeadingNumber | undefined {
  const line = text.slice(0, 60)
  for (const { kind, rank, pattern } of WORD_PATTERNS) {
    const match = pattern.exec(line)
    if (match === null) continue
    const [, digits, suffix = '', roman, letter] = match
    if (digits !== undefined) return { kind, rank, parts: [...digits.split('.').map(Number), ...toLetterParts(suffix)] }
    if (roman !== undefined) return { kind, rank, parts: [parseRoman(roman)] }
    return { kind, rank, parts: toLetterParts(letter ?? '') }
  }
  const decimal = DECIMAL.exec(line)?.[1]
  if (decimal !== undefined) return { kind: 'decimal', rank: KINDS.length, parts: decimal.split('.').map(Number) }
  const roman = ROMAN.exec(line)?.[1]
  // A single letter that is also a Roman digit is usually a letter, except I, V and X.
  if (roman !== undefined) return { kind: 'roman', rank: KINDS.length, parts: [parseRoman(roman)] }
  const letter = LETTER.exec(line)?.[1]
  return letter === undefined ? undefined : { kind: 'letter', rank: KINDS.length, parts: toLetterParts(letter) }
}

/** Whether a word names what is counted: `Item 7`, not `7.` */
export function hasKindWord(number: HeadingNumber | undefined): boolean {
  return number !== undefined && number.rank < KINDS.length
}

/** Whether a number follows another of the same kind. */
export function isAfter(next: readonly number[], previous: readonly number[]): boolean {
  for (let index = 0; index < Math.max(next.length, previous.length); index++) {
    const step = (next[index] ?? 0) - (previous[index] ?? 0)
    if (step !== 0) return step > 0
  }
  return false
}

function toLetterParts(letter: string): number[] {
  return letter === '' ? [] : [letter.toUpperCase().charCodeAt(0) - 64]
}

const DIGITS: Readonly<Record<string, number>> = { I: 1, V: 5, X: 10, L: 50, C: 100 }

function parseRoman(roman: string): number {
  let value = 0
  let largest = 0
  for (const symbol of [...roman.toUpperCase()].reverse()) {
    const digit = DIGITS[symbol] ?? 0
    value += digit < largest ? -digit : digit
    largest = Math.max(largest, digit)
  }
  return value
}
