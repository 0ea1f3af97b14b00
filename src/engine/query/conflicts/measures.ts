/** A unit: what it measures, and how many of that measure's base unit it is. */
export interface Unit {
  measure: string
  factor: number
  /** added after the factor: degrees Fahrenheit */
  offset?: number
}

const MINUTE = 60
const HOUR = 3600
const DAY = 86_400
const YEAR = 365.25 * DAY

/** measure: words and factor, base unit first; seconds, metres, grams, bytes, watts, joules, pascals, litres, m², m/s, °C */
const TABLE: readonly (readonly [string, string, number])[] = [
  ['time', 'second seconds sec secs s sekunde sekunden', 1],
  ['time', 'millisecond milliseconds ms millisekunden', 0.001],
  ['time', 'minute minutes min mins minuten', MINUTE],
  ['time', 'hour hours hr hrs h stunde stunden', HOUR],
  ['time', 'day days tag tage tagen', DAY],
  ['time', 'week weeks woche wochen', 7 * DAY],
  ['time', 'fortnight fortnights', 14 * DAY],
  ['time', 'month months monat monate monaten', YEAR / 12],
  ['time', 'quarter quarters quartal quartale', YEAR / 4],
  ['time', 'year years yr yrs jahr jahre jahren', YEAR],
  ['time', 'decade decades', 10 * YEAR],
  ['time', 'century centuries', 100 * YEAR],
  ['length', 'metre metres meter meters m', 1],
  ['length', 'kilometre kilometres kilometer kilometers km', 1000],
  ['length', 'centimetre centimetres centimeter centimeters cm zentimeter', 0.01],
  ['length', 'millimetre millimetres millimeter millimeters mm', 0.001],
  ['length', 'mile miles meile meilen', 1609.344],
  ['length', 'foot feet ft', 0.3048],
  ['length', 'inch inches', 0.0254],
  ['length', 'yard yards', 0.9144],
  ['mass', 'gram grams g gramm', 1],
  ['mass', 'milligram milligrams mg', 0.001],
  ['mass', 'kilogram kilograms kg kilo kilos kilogramm', 1000],
  ['mass', 'tonne tonnes ton tons t tonnen', 1e6],
  ['mass', 'pound pounds lb lbs', 453.592],
  ['mass', 'ounce ounces oz', 28.3495],
  ['data', 'byte bytes b', 1],
  ['data', 'kilobyte kilobytes kb kib', 1024],
  ['data', 'megabyte megabytes mb mib', 1024 ** 2],
  ['data', 'gigabyte gigabytes gb gib', 1024 ** 3],
  ['data', 'terabyte terabytes tb tib', 1024 ** 4],
  ['power', 'watt watts w', 1],
  ['power', 'kilowatt kilowatts kw', 1000],
  ['power', 'megawatt megawatts mw', 1e6],
  ['power', 'horsepower hp ps', 745.7],
  ['energy', 'joule joules j', 1],
  ['energy', 'kilojoule kilojoules kj', 1000],
  ['energy', 'calorie calories kcal kilocalories kalorien', 4184],
  ['energy', 'kwh', 3.6e6],
  ['voltage', 'volt volts v', 1],
  ['voltage', 'kilovolt kilovolts kv', 1000],
  ['current', 'ampere amperes amp amps', 1],
  ['pressure', 'pascal pascals pa', 1],
  ['pressure', 'bar', 1e5],
  ['pressure', 'psi', 6894.76],
  ['volume', 'litre litres liter liters l', 1],
  ['volume', 'millilitre millilitres milliliter milliliters ml', 0.001],
  ['volume', 'gallon gallons', 3.785],
  ['area', 'hectare hectares ha hektar', 1],
  ['area', 'acre acres', 0.4047],
  ['frequency', 'hertz hz', 1],
  ['frequency', 'kilohertz khz', 1000],
  ['frequency', 'megahertz mhz', 1e6],
  ['frequency', 'gigahertz ghz', 1e9],
  ['speed', 'km/h kmh kph', 1],
  ['speed', 'mph', 1.609344],
  ['speed', 'm/s', 3.6],
  ['speed', 'knot knots', 1.852],
  ['share', '% percent prozent pct', 1],
  ['angle', 'degree degrees grad °', 1],
  ['temperature', '°c celsius', 1],
  ['temperature', 'kelvin', 1],
  ['euro', '€ euro euros eur', 1],
  ['dollar', '$ dollar dollars usd', 1],
  ['sterling', '£ gbp', 1],
  ['yen', '¥ yen jpy', 1],
  ['franc', 'chf francs franken', 1],
  ['crown', 'kronor kroner crowns', 1],
  ['cent', 'cents', 1],
  ['decibel', 'decibel decibels db', 1],
  ['pixel', 'pixel pixels px', 1],
]

const UNITS = new Map<string, Unit>(
  TABLE.flatMap(([measure, names, factor]) =>
    names.split(' ').map((name): [string, Unit] => [name, { measure, factor }]),
  ),
)
UNITS.set('°f', { measure: 'temperature', factor: 5 / 9, offset: (-32 * 5) / 9 })
UNITS.set('fahrenheit', { measure: 'temperature', factor: 5 / 9, offset: (-32 * 5) / 9 })

/** Signs that stand before their number. */
export const CURRENCY_SIGNS: ReadonlySet<string> = new Set(['€', '$', '£', '¥', 'usd', 'eur', 'gbp', 'chf'])
export const MONEY: ReadonlySet<string> = new Set(['euro', 'dollar', 'sterling', 'yen', 'franc', 'crown', 'cent'])

export function unitOf(word: string): Unit | undefined {
  return UNITS.get(word)
}

/** How long from one time to the next, in seconds: `daily`. */
export const INTERVALS: ReadonlyMap<string, number> = new Map([
  ...([
    ['hourly', HOUR],
    ['daily', DAY],
    ['nightly', DAY],
    ['weekly', 7 * DAY],
    ['fortnightly', 14 * DAY],
    ['monthly', YEAR / 12],
    ['quarterly', YEAR / 4],
    ['annually', YEAR],
    ['yearly', YEAR],
    ['täglich', DAY],
    ['wöchentlich', 7 * DAY],
    ['monatlich', YEAR / 12],
    ['jährlich', YEAR],
  ] as const),
])
