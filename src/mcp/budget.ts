/**
 * Answers are limited in tokens of an unknown model. Tokenizers differ, so this estimate is high: four characters of
 * ASCII or two other characters make a token, and each character of a script without spaces is one.
 */
const PLAIN_CHARS = 4
const OTHER_CHARS = 2
const UNSPACED = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]/u

export const TOKENS = { min: 200, default: 4000, max: 50_000 } as const
/** Overhead of an item beyond its text: field names, marks, an address. */
export const ITEM_OVERHEAD = 40
/** Overhead of the notice about marks and the texts around an answer. */
export const NOTICE_TOKENS = 60

/** Estimated number of tokens in a text. */
export function tokensOf(text: string): number {
  let tokens = 0
  for (const char of text) tokens += weight(char)
  return Math.ceil(tokens)
}

function weight(char: string): number {
  const code = char.codePointAt(0) ?? 0
  if (code < 0x80) return 1 / PLAIN_CHARS
  return UNSPACED.test(char) ? 1 : 1 / OTHER_CHARS
}

export interface CutText {
  text: string
  /** Number of characters of the original that are included. */
  chars: number
  isCut: boolean
}

/** Truncates a text to a number of tokens, at the end of a line or word if one is near. */
export function cutText(text: string, tokens: number): CutText {
  let used = 0
  let end = 0
  for (const char of text) {
    used += weight(char)
    if (used > tokens) return ending(text, end)
    end += char.length
  }
  return { text, chars: text.length, isCut: false }
}

function ending(text: string, end: number): CutText {
  const near = Math.floor(end * 0.8)
  const line = text.lastIndexOf('\n', end)
  const word = text.lastIndexOf(' ', end)
  const at = line > near ? line + 1 : word > near ? word + 1 : end
  const chars = Math.max(1, at)
  return { text: text.slice(0, chars), chars, isCut: true }
}

/** The number of items, from the first, that fit. At least one, because an empty answer could not be continued. */
export function fitting<T>(items: readonly T[], tokens: number, textOf: (item: T) => string): number {
  let used = 0
  for (const [index, item] of items.entries()) {
    used += tokensOf(textOf(item)) + ITEM_OVERHEAD
    if (index > 0 && used > tokens) return index
  }
  return items.length
}
