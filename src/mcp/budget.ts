/**
 * Answers are limited in tokens of an unknown model. Tokenizers differ, so this estimate is high: four characters of
 * ASCII or two other characters make a token, and each character of a script without spaces is one.
 */
const ASCII_CHARS_PER_TOKEN = 4
const OTHER_CHARS_PER_TOKEN = 2
const UNSPACED_SCRIPTS = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]/u

export const TOKEN_LIMITS = { min: 200, default: 4000, max: 50_000 } as const
/** Overhead of an item beyond its text: field names, marks, an address. */
export const ITEM_OVERHEAD_TOKENS = 40
/** Fraction of the text that fits, which is kept if the end moves back to a line or word. */
const MIN_KEPT_FRACTION = 0.8
/** Overhead of the notice about marks and the texts around an answer. */
export const NOTICE_TOKENS = 60

/** Estimates the number of tokens in a text. */
export function estimateTokens(text: string): number {
  let tokens = 0
  for (const char of text) tokens += estimateCharTokens(char)
  return Math.ceil(tokens)
}

function estimateCharTokens(char: string): number {
  const code = char.codePointAt(0) ?? 0
  if (code < 0x80) return 1 / ASCII_CHARS_PER_TOKEN
  return UNSPACED_SCRIPTS.test(char) ? 1 : 1 / OTHER_CHARS_PER_TOKEN
}

export interface TruncatedText {
  text: string
  /** Number of characters of the original that are included. */
  chars: number
  isTruncated: boolean
}

/** Truncates a text to a number of tokens, at the end of a line or word if one is near. */
export function truncateToTokens(text: string, maxTokens: number): TruncatedText {
  let used = 0
  let end = 0
  for (const char of text) {
    used += estimateCharTokens(char)
    if (used > maxTokens) return truncateAt(text, end)
    end += char.length
  }
  return { text, chars: text.length, isTruncated: false }
}

function truncateAt(text: string, end: number): TruncatedText {
  const minEnd = Math.floor(end * MIN_KEPT_FRACTION)
  const lineBreak = text.lastIndexOf('\n', end)
  const wordBreak = text.lastIndexOf(' ', end)
  const cut = lineBreak > minEnd ? lineBreak + 1 : wordBreak > minEnd ? wordBreak + 1 : end
  const chars = Math.max(1, cut)
  return { text: text.slice(0, chars), chars, isTruncated: true }
}

/** Counts the items, from the first, that fit. At least one, because an empty answer could not be continued. */
export function countFitting<T>(items: readonly T[], maxTokens: number, getText: (item: T) => string): number {
  let used = 0
  for (const [index, item] of items.entries()) {
    used += estimateTokens(getText(item)) + ITEM_OVERHEAD_TOKENS
    if (index > 0 && used > maxTokens) return index
  }
  return items.length
}
