import { lazy } from '../../../lib/lazy.js'
import { NAMED_LANGUAGES } from '../../../lib/text/calendar-names.js'

/** A unit of measurement: its measure, and its factor to the measure's base unit. */
export interface MeasureUnit {
  measure: string
  factor: number
  /** added after the factor: degrees Fahrenheit */
  offset?: number
}

const DAY = 86_400
const YEAR = 365.25 * DAY

/** Units whose names the runtime knows in every language, with their factors. */
const UNITS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  time: {
    second: 1,
    millisecond: 0.001,
    minute: 60,
    hour: 3600,
    day: DAY,
    week: 7 * DAY,
    month: YEAR / 12,
    year: YEAR,
  },
  length: {
    meter: 1,
    kilometer: 1000,
    centimeter: 0.01,
    millimeter: 0.001,
    mile: 1609.344,
    foot: 0.3048,
    inch: 0.0254,
    yard: 0.9144,
  },
  mass: { gram: 1, kilogram: 1000, pound: 453.592, ounce: 28.3495 },
  data: { byte: 1, kilobyte: 1024, megabyte: 1024 ** 2, gigabyte: 1024 ** 3, terabyte: 1024 ** 4 },
  volume: { liter: 1, milliliter: 0.001, gallon: 3.785 },
  area: { hectare: 1, acre: 0.4047 },
  share: { percent: 1 },
  temperature: { celsius: 1, fahrenheit: 5 / 9, degree: 1 },
  speed: { 'kilometer-per-hour': 1, 'mile-per-hour': 1.609344, 'meter-per-second': 3.6 },
}
const FAHRENHEIT_OFFSET = (-32 * 5) / 9
const CURRENCIES = ['EUR', 'USD', 'GBP', 'JPY', 'CHF', 'CNY'] as const
/** Names that locale data lack: British spellings, symbols, and short names of currencies. */
const EXTRA_UNITS: readonly (readonly [string, string, number])[] = [
  ['time', 'hrs stunden', 3600],
  ['time', 'mins', 60],
  ['time', 'secs', 1],
  ['time', 'fortnight fortnights', 14 * DAY],
  ['time', 'quarter quarters', YEAR / 4],
  ['length', 'metre metres', 1],
  ['length', 'kilometre kilometres', 1000],
  ['length', 'centimetre centimetres', 0.01],
  ['length', 'millimetre millimetres', 0.001],
  ['mass', 'kilo kilos', 1000],
  ['mass', 't ton tons tonne tonnes', 1e6],
  ['data', 'kib', 1024],
  ['data', 'mib', 1024 ** 2],
  ['data', 'gib', 1024 ** 3],
  ['data', 'tib', 1024 ** 4],
  ['volume', 'litre litres', 1],
  ['power', 'w watt watts', 1],
  ['power', 'kw kilowatt kilowatts', 1000],
  ['power', 'mw megawatt megawatts', 1e6],
  ['energy', 'kwh', 1],
  ['voltage', 'v volt volts', 1],
  ['pressure', 'bar', 1],
  ['frequency', 'hz hertz', 1],
  ['frequency', 'khz kilohertz', 1000],
  ['frequency', 'mhz megahertz', 1e6],
  ['frequency', 'ghz gigahertz', 1e9],
  ['EUR', 'euros', 1],
  ['USD', 'dollar dollars', 1],
  ['GBP', 'pounds', 1],
  ['CHF', 'francs franken', 1],
  ['JPY', 'yen 円', 1],
  ['CNY', '元 rmb', 1],
]

/** Short forms of units that are also prepositions or articles. */
const PREPOSITIONS = new Set(['in', 'a', 'an', 'de', 'd'])

const getUnits = lazy((): Map<string, MeasureUnit> => {
  const unitByName = new Map<string, MeasureUnit>()
  const add = (name: string, unit: MeasureUnit): void => {
    const key = name.toLowerCase().replace(/\.$/u, '')
    if (key !== '' && !unitByName.has(key)) unitByName.set(key, unit)
  }
  for (const display of ['long', 'short'] as const)
    for (const language of NAMED_LANGUAGES)
      for (const [measure, factors] of Object.entries(UNITS))
        for (const [name, factor] of Object.entries(factors)) {
          const unit = { measure, factor, ...(name === 'fahrenheit' ? { offset: FAHRENHEIT_OFFSET } : {}) }
          const format = new Intl.NumberFormat(language, { style: 'unit', unit: name, unitDisplay: display })
          for (const number of [1, 2, 5]) add(formatPart(format, 'unit', number), unit)
        }
  for (const measure of CURRENCIES)
    for (const language of ['en', 'de', 'fr', 'es'])
      for (const currencyDisplay of ['name', 'narrowSymbol', 'code'] as const) {
        const format = new Intl.NumberFormat(language, { style: 'currency', currency: measure, currencyDisplay })
        for (const number of [1, 2]) add(formatPart(format, 'currency', number), { measure, factor: 1 })
      }
  for (const [measure, names, factor] of EXTRA_UNITS)
    for (const name of names.split(' ')) add(name, { measure, factor })
  return unitByName
})

function formatPart(format: Intl.NumberFormat, type: string, number: number): string {
  return format
    .formatToParts(number)
    .filter((part) => part.type === type)
    .map(({ value }) => value)
    .join(' ')
}

/** Finds the unit that a word in lower case names in any of the languages; a German dative too. */
export function findUnit(word: string): MeasureUnit | undefined {
  if (PREPOSITIONS.has(word)) return undefined
  return getUnits().get(word) ?? (/\p{L}{3}en$/u.test(word) ? getUnits().get(word.slice(0, -1)) : undefined)
}

export function isMoney({ measure }: { measure: string }): boolean {
  return CURRENCIES.some((currency) => currency === measure)
}

/** Whether a token is a currency that is written before its number: a sign or a code. */
export function isCurrencySign(token: string): boolean {
  return /^(?:\p{Sc}|usd|eur|gbp|chf)$/u.test(token)
}
