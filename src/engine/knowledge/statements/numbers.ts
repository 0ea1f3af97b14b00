/** Number words up to twenty, tens of English and German, and some large ones. */
const SMALL = new Map<string, number>(
  [
    'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty',
    'zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize',
    'cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince',
    '零 一 二 三 四 五 六 七 八 九 十',
    'null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn zwanzig',
  ].flatMap((line) => line.split(' ').map((word, value): [string, number] => [word, value])),
)
const TENS = 'thirty forty fifty sixty seventy eighty ninety'.split(' ')
for (const [index, word] of TENS.entries()) SMALL.set(word, 30 + 10 * index)
for (const [index, word] of 'dreißig vierzig fünfzig sechzig siebzig achtzig neunzig'.split(' ').entries())
  SMALL.set(word, 30 + 10 * index)
SMALL.set('dozen', 12)
SMALL.set('half', 0.5)
SMALL.set('eine', 1)
SMALL.set('einen', 1)
SMALL.set('einem', 1)
SMALL.set('两', 2)
SMALL.set('veinte', 20)
SMALL.set('vingt', 20)
// articles, and an English adverb
for (const word of ['un', 'uno', 'once']) SMALL.delete(word)

const SCALES = new Map<string, number>([
  ...([
    ['dozen', 12],
    ['hundred', 100],
    ['thousand', 1000],
    ['million', 1e6],
    ['billion', 1e9],
    ['trillion', 1e12],
    ['bn', 1e9],
    ['mio', 1e6],
    ['hundert', 100],
    ['tausend', 1000],
    ['millionen', 1e6],
    ['milliarden', 1e9],
    ['hundreds', 100],
    ['thousands', 1000],
  ] as const),
])

const DIGITS = /^\d/
const GERMAN_GROUPS = /^\d{1,3}(?:\.\d{3})+(?:,\d+)?$/
const GROUPS = /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/
const DECIMAL_COMMA = /^\d+,\d+$/

export interface ParsedNumber {
  value: number
  /** significant digits: `1,200` has two, `1,212` four */
  digits: number
  hasFraction: boolean
  /** number of tokens that it covers */
  taken: number
  /** written in digits without separators, as a year is */
  isPlain: boolean
}

/** Parses the number that begins at a token, in digits or words, with the words that multiply it. */
export function parseNumberAt(tokens: readonly string[], index: number, isGerman: boolean): ParsedNumber | undefined {
  const first = tokens[index]
  if (first === undefined) return undefined
  const simple = DIGITS.test(first) ? parseDigits(first, isGerman) : parseNumberWords(tokens, index)
  if (simple === undefined) return undefined
  let { value, taken } = simple
  let isPlain = simple.isPlain
  for (;;) {
    const scale = SCALES.get(tokens[index + taken] ?? '')
    if (scale === undefined) break
    value *= scale
    taken++
    isPlain = false
  }
  return { ...simple, value, taken, isPlain }
}

function parseDigits(text: string, isGerman: boolean): ParsedNumber | undefined {
  let plain = text
  if (isGerman && GERMAN_GROUPS.test(text)) plain = text.replaceAll('.', '').replace(',', '.')
  else if (GROUPS.test(text)) plain = text.replaceAll(',', '')
  else if (DECIMAL_COMMA.test(text)) plain = text.replace(',', '.')
  const value = Number(plain)
  if (!Number.isFinite(value)) return undefined
  const hasFraction = plain.includes('.')
  const significant = plain.replace('.', '').replace(/^0+/, '')
  const digits = Math.max(1, (hasFraction ? significant : significant.replace(/0+$/, '')).length)
  return { value, digits, hasFraction, taken: 1, isPlain: text === plain && !hasFraction }
}

function parseNumberWords(tokens: readonly string[], index: number): ParsedNumber | undefined {
  const word = tokens[index] ?? ''
  const isOne = (word === 'a' || word === 'an') && SCALES.has(tokens[index + 1] ?? '')
  const value = isOne ? 1 : SMALL.get(word)
  if (value === undefined) return undefined
  const next = SMALL.get(tokens[index + 1] ?? '')
  if (value >= 20 && value % 10 === 0 && next !== undefined && next >= 1 && next < 10)
    return { value: value + next, digits: 2, hasFraction: false, taken: 2, isPlain: false }
  return { value, digits: value % 10 === 0 ? 1 : 2, hasFraction: value === 0.5, taken: 1, isPlain: false }
}
