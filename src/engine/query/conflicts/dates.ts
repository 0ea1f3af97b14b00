/** What is said of a date; parts that are not said are absent. */
export interface Moment {
  year?: number
  /** 1 to 12 */
  month?: number
  day?: number
  /** 0 is Monday */
  weekday?: number
  quarter?: number
  /** as the text writes it */
  shown: string
  /** a word before it says from or until when a fact holds */
  isLimit: boolean
}

const MONTHS = new Map<string, number>(
  [
    'january february march april may june july august september october november december',
    'jan feb mar apr may jun jul aug sep oct nov dec',
    'januar februar märz april mai juni juli august september oktober november dezember',
  ].flatMap((line) => line.split(' ').map((name, place): [string, number] => [name, place + 1])),
)
const WEEKDAYS = new Map<string, number>(
  [
    'monday tuesday wednesday thursday friday saturday sunday',
    'mondays tuesdays wednesdays thursdays fridays saturdays sundays',
    'montag dienstag mittwoch donnerstag freitag samstag sonntag',
    'montags dienstags mittwochs donnerstags freitags samstags sonntags',
  ].flatMap((line) => line.split(' ').map((name, place): [string, number] => [name, place])),
)
const YEAR = /^(?:1\d|20)\d\d$/
const DAY = /^(?:[12]?\d|3[01])(?:st|nd|rd|th)?$/
const ORDINAL = /^(?:st|nd|rd|th)$/
const YEAR_BEFORE =
  /^(?:in|of|since|by|from|until|till|to|after|before|during|early|late|mid|around|about|circa|jahr|im|seit|bis|ab|wurde|war|\(|,)$/u
const LIMIT = /^(?:since|from|until|till|as|after|before|seit|bis|ab|vor|nach)$/u
const NOUN_AFTER =
  /^(?:\p{L}{3,}s|people|men|women|children|meter|metres|euro|mitarbeiter|besucher|einwohner|tage|stück)$/u

/** Dates of a clause's tokens in lower case; `taken` is told which they are. */
export function readDates(
  tokens: readonly string[],
  taken: boolean[],
  isCapital: (place: number) => boolean,
  isUnit: (word: string) => boolean,
): Moment[] {
  const found: Moment[] = []
  for (let at = 0; at < tokens.length; at++) {
    const read = dateAt(tokens, at, isCapital, isUnit)
    if (read === undefined) continue
    const { length, ...parts } = read
    const shown = tokens.slice(at, at + length).join(' ')
    const isLimit = LIMIT.test(tokens[at - 1] ?? '') || (tokens[at - 1] === 'of' && tokens[at - 2] === 'as')
    found.push({ ...parts, shown, isLimit })
    for (let place = at; place < at + length; place++) taken[place] = true
    at += length - 1
  }
  return found
}

type Parts = Omit<Moment, 'shown' | 'isLimit'> & { length: number }

function dateAt(
  tokens: readonly string[],
  at: number,
  isCapital: (place: number) => boolean,
  isUnit: (word: string) => boolean,
): Parts | undefined {
  const word = tokens[at] ?? ''
  const weekday = WEEKDAYS.get(word)
  if (weekday !== undefined) return { weekday, length: 1 }
  if (/^q[1-4]$/.test(word)) return withYear(tokens, { quarter: Number(word[1]), length: 1 }, at)
  const monthAt = (place: number): number | undefined =>
    isCapital(place) || (tokens[place] ?? '').length > 4 ? MONTHS.get(tokens[place] ?? '') : undefined
  const day = DAY.exec(word) === null ? undefined : Number.parseInt(word, 10)
  if (day !== undefined && day > 0) {
    let next = at + 1
    while (ORDINAL.test(tokens[next] ?? '') || tokens[next] === 'of' || tokens[next] === '.') next++
    const month = monthAt(next)
    if (month !== undefined) return withYear(tokens, { month, day, length: next + 1 - at }, at)
  }
  const month = monthAt(at)
  if (month !== undefined) {
    const next = tokens[at + 1] ?? ''
    const length = ORDINAL.test(tokens[at + 2] ?? '') ? 3 : 2
    if (DAY.test(next)) return withYear(tokens, { month, day: Number.parseInt(next, 10), length }, at)
    return withYear(tokens, { month, length: 1 }, at)
  }
  return isYear(tokens, at, isUnit) ? { year: Number(word), length: 1 } : undefined
}

function withYear(tokens: readonly string[], parts: Parts, at: number): Parts {
  let next = at + parts.length
  if (tokens[next] === ',' || tokens[next] === 'of') next++
  return YEAR.test(tokens[next] ?? '') ? { ...parts, year: Number(tokens[next]), length: next + 1 - at } : parts
}

function isYear(tokens: readonly string[], at: number, isUnit: (word: string) => boolean): boolean {
  if (!YEAR.test(tokens[at] ?? '')) return false
  const next = tokens[at + 1] ?? ''
  if (isUnit(next) || next === '-') return false
  if (/^1[0-3]/.test(tokens[at] ?? ''))
    return /^(?:in|since|by|from|until|im|seit|jahr)$/u.test(tokens[at - 1] ?? '') && !NOUN_AFTER.test(next)
  return YEAR_BEFORE.test(tokens[at - 1] ?? '') || !NOUN_AFTER.test(next)
}

/** Whether two dates cannot be of the same day; what one does not say it does not deny. */
export function apart(one: Moment, two: Moment): boolean {
  const differ = (a: number | undefined, b: number | undefined): boolean =>
    a !== undefined && b !== undefined && a !== b
  return (
    differ(one.year, two.year) ||
    differ(one.month, two.month) ||
    differ(one.day, two.day) ||
    differ(one.weekday, two.weekday) ||
    differ(one.quarter, two.quarter)
  )
}
