/** Languages in Latin letters; English is first, see `SCRIPTS`. */
const LATIN = [
  'en',
  'de',
  'fr',
  'es',
  'it',
  'pt',
  'nl',
  'sv',
  'da',
  'no',
  'fi',
  'hu',
  'ro',
  'tr',
  'id',
  'lt',
  'ga',
  'pl',
  'cs',
  'sr',
] as const

/**
 * Languages that are detected by their words and stemmed, by ISO 639-1. Chinese, Japanese, Korean and Thai are
 * recognized by their script (`unspaced.ts`).
 */
export const LANGUAGES = [...LATIN, 'ru', 'uk', 'bg', 'el', 'ar', 'hi', 'ne', 'hy', 'ta'] as const

export type Language = (typeof LANGUAGES)[number]

/** Alphabets with their languages; the first language is the default if the words do not decide. */
export const SCRIPTS = {
  latin: LATIN,
  cyrillic: ['ru', 'uk', 'bg', 'sr'],
  greek: ['el'],
  arabic: ['ar'],
  devanagari: ['hi', 'ne'],
  armenian: ['hy'],
  tamil: ['ta'],
} as const satisfies Record<string, readonly Language[]>

export type Script = keyof typeof SCRIPTS

const PATTERNS: readonly (readonly [Script, RegExp])[] = [
  ['latin', /^[\p{Script=Latin}\p{M}]+$/u],
  ['cyrillic', /^[\p{Script=Cyrillic}\p{M}]+$/u],
  ['arabic', /^[\p{Script=Arabic}\p{M}]+$/u],
  ['devanagari', /^[\p{Script=Devanagari}\p{M}]+$/u],
  ['greek', /^[\p{Script=Greek}\p{M}]+$/u],
  ['armenian', /^[\p{Script=Armenian}\p{M}]+$/u],
  ['tamil', /^[\p{Script=Tamil}\p{M}]+$/u],
]

const ASCII_WORD = /^[a-z]+$/

/** Alphabet of a lower-case word; undefined if it contains digits or its alphabet is not supported. */
export function detectScript(word: string): Script | undefined {
  if (ASCII_WORD.test(word)) return 'latin'
  return PATTERNS.find(([, pattern]) => pattern.test(word))?.[0]
}

/** Names of the modules of `@orama/stemmers` and `@orama/stopwords`. Polish and Czech have no stemmer. */
export const MODULE_NAMES: Readonly<Partial<Record<Language, string>>> = {
  de: 'german',
  fr: 'french',
  es: 'spanish',
  it: 'italian',
  pt: 'portuguese',
  nl: 'dutch',
  sv: 'swedish',
  da: 'danish',
  no: 'norwegian',
  fi: 'finnish',
  hu: 'hungarian',
  ro: 'romanian',
  tr: 'turkish',
  id: 'indonesian',
  lt: 'lithuanian',
  ga: 'irish',
  sr: 'serbian',
  ru: 'russian',
  uk: 'ukrainian',
  bg: 'bulgarian',
  el: 'greek',
  ar: 'arabic',
  hi: 'indian',
  ne: 'nepali',
  hy: 'armenian',
  ta: 'tamil',
}
