import type { Relation } from './compare.js'

/** A number of a Chinese or Japanese sentence with what it counts. */
const AMOUNT =
  /(\d+(?:\.\d+)?|[一二两三四五六七八九十百千]+)\s*(个?小时|分钟|秒|天|日|周|个?月|年|万|亿|名|人|元|公里|千米|米|厘米|公斤|千克|克|吨|度|%|层|次|岁|号|時間|分|円|個)/gu
const NEGATION = /不可以|不能|不会|不會|不是|没有|沒有|并非|並非|不得|不允许|不需要|从未|從未|禁止|不|未|ない|ません/gu
const DIGITS = '零一二三四五六七八九'
/** Seconds, metres and grams. */
const FACTORS = new Map<string, readonly [string, number]>([
  ...([
    ['小时', ['time', 3600]],
    ['个小时', ['time', 3600]],
    ['時間', ['time', 3600]],
    ['分钟', ['time', 60]],
    ['秒', ['time', 1]],
    ['天', ['time', 86_400]],
    ['周', ['time', 604_800]],
    ['个月', ['time', 2_629_800]],
    ['公里', ['length', 1000]],
    ['千米', ['length', 1000]],
    ['米', ['length', 1]],
    ['厘米', ['length', 0.01]],
    ['公斤', ['mass', 1000]],
    ['千克', ['mass', 1000]],
    ['克', ['mass', 1]],
    ['吨', ['mass', 1e6]],
  ] as const),
])
const YEAR_FROM = 1400
/** Share of the pairs of characters, numbers and denials left out, that both must have. */
const SAME_FRAME = 0.7
const CONVERTED = 0.05

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u

/** Whether a sentence is of a script without spaces between words, and compared as it stands. */
export function isUnspaced(sentence: string): boolean {
  return UNSPACED.test(sentence)
}

/** What two sentences of a script without spaces are to each other: the same but for a number, a year or a denial. */
export function ofUnspaced(one: string, two: string): Relation | undefined {
  if (one === two) return undefined
  const [a, b] = [readUnspaced(one), readUnspaced(two)]
  if (overlap(a.pairs, b.pairs) < SAME_FRAME) return undefined
  const differ = [...a.amounts].flatMap(([measure, value]) => {
    const other = b.amounts.get(measure)
    return other === undefined || near(value.amount, other.amount) ? [] : [[value.shown, other.shown]]
  })
  if (differ.length > 0) {
    if (a.years !== b.years)
      return { kind: 'newer', reason: `another time: ${a.years}, ${b.years}`, by: 'number', values: [] }
    return { kind: 'conflict', reason: `different numbers: ${differ[0]?.join(', ')}`, by: 'number', values: [] }
  }
  if (a.isDenied !== b.isDenied) return { kind: 'conflict', reason: 'negation', by: 'denial', values: [] }
  const isDated = a.years !== '' && b.years !== '' && a.years !== b.years && a.amounts.size === 0
  return isDated
    ? { kind: 'conflict', reason: `different dates: ${a.years}, ${b.years}`, by: 'date', values: [] }
    : undefined
}

export interface Read {
  /** of characters next to each other, numbers and denials left out */
  pairs: Set<string>
  amounts: Map<string, { amount: number; shown: string }>
  years: string
  isDenied: boolean
}

/** A sentence of a script without spaces as such sentences are compared. */
export function readUnspaced(sentence: string): Read {
  const amounts = new Map<string, { amount: number; shown: string }>()
  const years: string[] = []
  for (const [shown, number = '', unit = ''] of sentence.matchAll(AMOUNT)) {
    const value = valueIn(number)
    if (unit === '年' && value >= YEAR_FROM) {
      years.push(String(value))
      continue
    }
    const [measure, factor] = FACTORS.get(unit) ?? [unit, 1]
    amounts.set(measure, { amount: value * factor, shown })
  }
  const bare = sentence
    .replace(AMOUNT, '')
    .replace(/不(?=可以|能|会|會|需要|允许)|没有|沒有|并非|並非|从未|從未|禁止|不|未/gu, '')
    .replace(/[\s，。、！？；：]/gu, '')
  const pairs = new Set(Array.from({ length: Math.max(0, bare.length - 1) }, (_, at) => bare.slice(at, at + 2)))
  return { pairs, amounts, years: years.join(' '), isDenied: sentence.search(NEGATION) >= 0 }
}

function valueIn(number: string): number {
  if (/^\d/.test(number)) return Number(number)
  let total = 0
  let digit = 0
  for (const character of number) {
    const power = { 十: 10, 百: 100, 千: 1000 }[character]
    if (power === undefined) digit = character === '两' ? 2 : DIGITS.indexOf(character)
    else {
      total += (digit === 0 ? 1 : digit) * power
      digit = 0
    }
  }
  return total + digit
}

function near(a: number, b: number): boolean {
  return (
    Math.abs(a - b) <= CONVERTED * Math.max(a, b) && (a !== Math.round(a) || b !== Math.round(b) || a === b || a > 1e5)
  )
}

function overlap(one: ReadonlySet<string>, two: ReadonlySet<string>): number {
  let common = 0
  for (const pair of one) if (two.has(pair)) common++
  return common / Math.max(1, one.size + two.size - common)
}
