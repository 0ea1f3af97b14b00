import { findUnit, isCurrencySign, type MeasureUnit } from './measures.js'
import { type ParsedNumber, parseNumberAt } from './numbers.js'

export type QuantityBound = 'exact' | 'about' | 'at most' | 'at least' | 'over' | 'range'

/** A number with its unit or the thing it counts, as a statement uses it. */
export interface Quantity {
  /** measure: `time`, `length`, `clock` (minutes of the day), `interval` (seconds), `count` */
  measure: string
  /** in base units of the measure; equal to `high` unless it is a range */
  low: number
  high: number
  bound: QuantityBound
  /** stem of the counted thing; empty when the statement does not name it */
  counted: string
  /** `a day`, `per request`: the number applies to each of these */
  per: string
  /** as written in the text */
  shown: string
  precision: Pick<ParsedNumber, 'digits' | 'hasFraction'>
  /** unit as written: conversion from other units rounds */
  unit: string
  /** index of its first token */
  index: number
}

/** Tokens of a clause in lower case, with a flag for those that belong to a number or date. */
export interface ClauseTokens {
  tokens: readonly string[]
  taken: boolean[]
  /** whether a point groups thousands and a comma starts the fraction */
  isGerman: boolean
  /** stem of a content word; undefined for others */
  stemAt: (index: number) => string | undefined
  /** whether a number names a version or model */
  isIdentifier: (index: number) => boolean
}

const AT_MOST =
  /(?<!\p{L})(?:up to|at most|maximum(?: of)?|max|no more than|not more than|limited to|within|under|below|(?:less|fewer) than|no later than|bis zu|höchstens|maximal|innerhalb von|unter|au (?:plus|maximum)|jusqu['’]à|moins de|como máximo|hasta|menos de)(?: (?:the|a|of|about|total|de))*$/u
const AT_LEAST =
  /(?<!\p{L})(?:at least|minimum(?: of)?|min|no (?:less|fewer) than|not (?:less|fewer) than|mindestens|minimal|au moins|al menos|como mínimo)(?: (?:the|a|of|about|de))*$/u
const OVER =
  /(?<!\p{L})(?:more than|over|above|exceeds?|exceeding|beyond|über|mehr als|plus de|más de)(?: (?:the|a))*$/u
const ABOUT =
  /(?<!\p{L})(?:about|around|approximately|roughly|nearly|almost|some|circa|ca|close to|an estimated|etwa|rund|ungefähr|fast|knapp|environ|unos|unas|aproximadamente|cerca de)(?: (?:the|a))*$/u
const RANGE_WORDS = new Set(['to', '-', '–', '—', 'bis', 'à', 'a'])
const PER_WORDS = new Set(['per', 'a', 'an', 'each', 'every', 'pro', 'je', 'par', 'por', 'im', 'in', 'the', 'al'])
const EVERY_WORDS = new Set(['every', 'each', 'alle', 'jede', 'jeden', 'jedes', 'chaque', 'cada'])
const TIMES_WORDS = new Map([
  ['once', 1],
  ['twice', 2],
  ['einmal', 1],
  ['zweimal', 2],
])
/** Frequency adverbs, with their interval in days. */
const INTERVAL_DAYS = new Map([
  ['hourly', 1 / 24],
  ['daily', 1],
  ['nightly', 1],
  ['weekly', 7],
  ['fortnightly', 14],
  ['monthly', 365.25 / 12],
  ['quarterly', 365.25 / 4],
  ['annually', 365.25],
  ['yearly', 365.25],
  ['täglich', 1],
  ['wöchentlich', 7],
  ['monatlich', 365.25 / 12],
  ['jährlich', 365.25],
])
const DAY = 86_400
const CLOCK = /^(\d{1,2}):(\d{2})$/
const CLOCK_AFTER = /^(?:uhr|o['’]clock|h|heures?)$/u
const MAX_TOKENS_BEFORE = 4
/** Maximum words between a number and its unit: `28 vacation days`, `three working days`. */
const MAX_WORDS_BEFORE_UNIT = 3
const NOON = 12 * 60

export function readQuantities(reading: ClauseTokens): Quantity[] {
  const found: Quantity[] = []
  for (let start = 0; start < reading.tokens.length; start++) {
    if (reading.taken[start] === true || reading.isIdentifier(start)) continue
    const next = matchIntervalAt(reading, start) ?? matchClockAt(reading, start) ?? matchAmountAt(reading, start)
    if (next === undefined) continue
    for (let index = start; index < start + next.length; index++) reading.taken[index] = true
    found.push({ ...next.quantity, index: start })
    start += next.length - 1
  }
  return found
}

interface QuantityMatch {
  quantity: Quantity
  /** number of tokens */
  length: number
}

const EXACT_DEFAULTS: Pick<Quantity, 'index' | 'bound' | 'counted' | 'per' | 'precision' | 'unit'> = {
  index: 0,
  bound: 'exact',
  counted: '',
  per: '',
  unit: '',
  precision: { digits: 2, hasFraction: false },
}

/** `every 6 months`, `twice a day`, `three times a week`, `daily`. */
function matchIntervalAt({ tokens, isGerman }: ClauseTokens, index: number): QuantityMatch | undefined {
  const found = (seconds: number, length: number): QuantityMatch => {
    const shown = tokens.slice(index, index + length).join(' ')
    return { quantity: { ...EXACT_DEFAULTS, measure: 'interval', low: seconds, high: seconds, shown }, length }
  }
  const word = tokens[index] ?? ''
  if (EVERY_WORDS.has(word)) {
    const number = parseNumberAt(tokens, index + 1, isGerman)
    const unit = findUnit(tokens[index + 1 + (number?.taken ?? 0)] ?? '')
    if (unit?.measure === 'time') return found((number?.value ?? 1) * unit.factor, 2 + (number?.taken ?? 0))
  }
  const number = TIMES_WORDS.has(word) ? undefined : parseNumberAt(tokens, index, isGerman)
  const isTimes = number !== undefined && /^(?:times|mal|fois|veces)$/u.test(tokens[index + number.taken] ?? '')
  const times = TIMES_WORDS.get(word) ?? (isTimes ? number.value : undefined)
  if (times !== undefined) {
    const next = index + (isTimes ? number.taken + 1 : 1)
    const unit = PER_WORDS.has(tokens[next] ?? '') ? findUnit(tokens[next + 1] ?? '') : undefined
    if (unit?.measure === 'time') return found(unit.factor / times, next + 2 - index)
  }
  const often = INTERVAL_DAYS.get(word)
  // Before a noun it is part of a name: `the daily report`.
  const isAdverb = index > 1 && !/^\p{L}{4,}/u.test(tokens[index + 1] ?? '')
  return often !== undefined && isAdverb ? found(often * DAY, 1) : undefined
}

/** `8 pm`, `10:30`, `9 o'clock`, `7 Uhr`, `noon`; of `6–22 h` also the first hour. */
function matchClockAt({ tokens, isGerman }: ClauseTokens, index: number): QuantityMatch | undefined {
  const word = tokens[index] ?? ''
  const written = CLOCK.exec(word)
  const number = written === null ? parseNumberAt(tokens, index, isGerman) : undefined
  const after = index + (number?.taken ?? 1)
  const half = /^(am|pm)$/.exec(tokens[after] ?? '')?.[1] ?? /^([ap])$/.exec(tokens[after] ?? '')?.[1]?.concat('m')
  const isClock = half !== undefined || CLOCK_AFTER.test(tokens[after] ?? '')
  const end = RANGE_WORDS.has(tokens[after] ?? '') ? parseNumberAt(tokens, after + 1, isGerman) : undefined
  const isRange = end !== undefined && CLOCK_AFTER.test(tokens[after + 1 + end.taken] ?? '')
  const named = word === 'noon' ? NOON : word === 'midnight' ? 2 * NOON : undefined
  if (named === undefined && written === null && (number === undefined || !(isClock || isRange))) return undefined
  const hour = number?.value ?? Number(written?.[1] ?? 0)
  if (hour > 24) return undefined
  const minutes =
    named ?? 60 * (half === undefined ? hour : (hour % 12) + (half === 'pm' ? 12 : 0)) + Number(written?.[2] ?? 0)
  const length = named === undefined && isClock ? after + 1 - index : after - index
  const shown = tokens.slice(index, index + length).join(' ')
  return { quantity: { ...EXACT_DEFAULTS, measure: 'clock', low: minutes, high: minutes, shown }, length }
}

function matchAmountAt(reading: ClauseTokens, index: number): QuantityMatch | undefined {
  const { tokens, isGerman } = reading
  const sign = isCurrencySign(tokens[index] ?? '') ? (tokens[index] ?? '') : ''
  const from = sign === '' ? index : index + 1
  const isMinus = tokens[from] === '-' && tokens[from - 1] !== undefined && !/^\d/.test(tokens[from - 1] ?? '')
  const start = isMinus ? from + 1 : from
  const first = parseNumberAt(tokens, start, isGerman)
  if (first === undefined) return undefined
  let end = start + first.taken
  const inner = findUnit(tokens[end] ?? '')
  const mayRange = RANGE_WORDS.has(tokens[end] ?? '') || (tokens[end] === 'and' && tokens[index - 1] === 'between')
  const second = mayRange ? parseNumberAt(tokens, end + 1, isGerman) : undefined
  const laterSecond =
    second === undefined && inner !== undefined && RANGE_WORDS.has(tokens[end + 1] ?? '')
      ? parseNumberAt(tokens, end + 2, isGerman)
      : undefined
  if (second !== undefined) end += 1 + second.taken
  if (laterSecond !== undefined) end += 2 + laterSecond.taken
  const unit = sign === '' ? findUnitAfter(reading, end) : { unit: findUnit(sign), end }
  const counted = unit.unit === undefined ? findCountedAfter(reading, end) : undefined
  const per = findPerAfter(reading, counted?.end ?? unit.end)
  const signed = isMinus ? -1 : 1
  const low = toBaseUnit(signed * first.value, unit.unit)
  const last = second ?? laterSecond
  const high = last === undefined ? low : toBaseUnit(last.value, unit.unit)
  const bound = last === undefined ? parseBound(tokens, index) : 'range'
  const length = Math.max(end, unit.end, per.end) - index
  return {
    quantity: {
      measure: unit.unit?.measure ?? 'count',
      low: Math.min(low, high),
      high: Math.max(low, high),
      bound,
      per: per.per,
      counted: counted?.stem ?? '',
      shown: joinTokens(tokens.slice(index, Math.max(index + length, counted?.end ?? 0))),
      precision: first,
      index,
      unit: sign === '' ? (tokens[unit.end - 1] ?? '') : sign,
    },
    length,
  }
}

function joinTokens(tokens: readonly string[]): string {
  return tokens
    .join(' ')
    .replace(/([€$£¥]) /gu, '$1')
    .replace(/^- (?=\d)/, '-')
}

function toBaseUnit(value: number, unit: MeasureUnit | undefined): number {
  return unit === undefined ? value : value * unit.factor + (unit.offset ?? 0)
}

/** Finds the unit of a number; one or two words may precede it. `end` is the index after it. */
function findUnitAfter(
  { tokens, taken, stemAt }: ClauseTokens,
  index: number,
): { unit: MeasureUnit | undefined; end: number } {
  let start = index
  if (tokens[start] === '-') start++
  for (const joined of [`${tokens[start]} ${tokens[start + 1]}`, `${tokens[start]}${tokens[start + 1]}`]) {
    const unit = findUnit(joined)
    if (unit !== undefined) return { unit, end: start + 2 }
  }
  for (let skipped = 0; skipped < MAX_WORDS_BEFORE_UNIT; skipped++) {
    const word = tokens[start + skipped] ?? ''
    const unit = findUnit(word)
    if (unit !== undefined && !(skipped > 0 && word.length < 4)) {
      for (let within = start; within < start + skipped; within++) taken[within] = false
      return skipped === 0 ? { unit, end: start + 1 } : { unit, end: index }
    }
    if (stemAt(start + skipped) === undefined) break
  }
  return { unit: undefined, end: index }
}

/** The counted thing: the first content word after the number, which remains a word of the statement. */
function findCountedAfter({ tokens, stemAt }: ClauseTokens, start: number): { stem: string; end: number } | undefined {
  const index = tokens[start] === '-' || tokens[start] === 'of' ? start + 1 : start
  const stem = stemAt(index)
  return stem === undefined ? undefined : { stem, end: index + 1 }
}

function findPerAfter({ tokens, stemAt }: ClauseTokens, index: number): { per: string; end: number } {
  const next = tokens[index + 1] ?? ''
  if (!PER_WORDS.has(tokens[index] ?? '')) return { per: '', end: index }
  const unit = findUnit(next)
  if (unit !== undefined) return { per: `${unit.measure} ${unit.factor}`, end: index + 2 }
  const stem = stemAt(index + 1)
  return tokens[index] === 'per' && stem !== undefined ? { per: stem, end: index } : { per: '', end: index }
}

function parseBound(tokens: readonly string[], index: number): QuantityBound {
  const before = tokens.slice(Math.max(0, index - MAX_TOKENS_BEFORE), index).join(' ')
  if (AT_MOST.test(before)) return 'at most'
  if (AT_LEAST.test(before)) return 'at least'
  if (OVER.test(before)) return 'over'
  if (ABOUT.test(before)) return 'about'
  const sentence = tokens.join(' ')
  if (/\b(?:minimum|mindest\p{L}*)\b/u.test(sentence)) return 'at least'
  if (/\b(?:maximum|limit|limits|limited|höchst\p{L}*|maximal)\b/u.test(sentence)) return 'at most'
  return 'exact'
}

/** Maximum relative difference of rounded numbers and converted units that agree. */
const ROUNDING_TOLERANCE = 0.05
const CONVERSION_TOLERANCE = 0.05
const ABOUT_TOLERANCE = 0.1
/** Smaller whole numbers are counts and limits, which are not rounded. */
const MIN_ROUNDED = 1000
/** Ranges that share at most this fraction of the narrower one differ. */
const RANGE_OVERLAP = 0.25

/** Whether two quantities of one fact exclude each other; undefined when they measure different things. */
export function areExclusive(one: Quantity, two: Quantity): boolean | undefined {
  if (one.measure !== two.measure) return undefined
  if (one.per !== '' && two.per !== '' && one.per !== two.per) return undefined
  if (one.bound === 'over' && two.bound === 'over') return false
  if (isLimit(one) && one.bound === two.bound) return !isNear(one, two, one.low, two.low)
  const [low, high] = [Math.max(getMinimum(one), getMinimum(two)), Math.min(getMaximum(one), getMaximum(two))]
  if (one.bound === 'range' && two.bound === 'range') {
    const narrower = Math.min(one.high - one.low, two.high - two.low)
    return high - low <= RANGE_OVERLAP * narrower
  }
  return low > high && !isNear(one, two, low, high)
}

function isLimit({ bound }: Quantity): boolean {
  return bound === 'at most' || bound === 'at least'
}

function getMinimum({ bound, low }: Quantity): number {
  return bound === 'at most' ? Math.min(0, low) : low
}

function getMaximum({ bound, high }: Quantity): number {
  return bound === 'at least' || bound === 'over' ? Number.POSITIVE_INFINITY : high
}

function isNear(one: Quantity, two: Quantity, a: number, b: number): boolean {
  if (a === b) return true
  const difference = Math.abs(a - b) / Math.max(Math.abs(a), Math.abs(b))
  if (one.bound === 'about' || two.bound === 'about') return difference <= ABOUT_TOLERANCE
  if (one.unit !== two.unit && one.measure !== 'count' && one.measure !== 'clock' && difference <= CONVERSION_TOLERANCE)
    return true
  const isRounded = one.precision.hasFraction || two.precision.hasFraction || Math.max(a, b) >= MIN_ROUNDED
  if (!isRounded || difference > ROUNDING_TOLERANCE) return false
  const digits = Math.min(one.precision.digits, two.precision.digits)
  return (
    one.precision.digits !== two.precision.digits && Number(a.toPrecision(digits)) === Number(b.toPrecision(digits))
  )
}
