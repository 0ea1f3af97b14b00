import type { Text } from '../../../lib/text/long-text.js'
import type { PatternMatch } from './pattern.js'

const SNIPPET_LENGTH = 160 // UTF-16 units, two lines of a terminal

/** A match with the text around it, in one line; `…` where text is omitted. */
export function makeSnippet(text: Text, { start, end }: PatternMatch): string {
  const shownEnd = Math.min(end, start + SNIPPET_LENGTH)
  const contextLength = SNIPPET_LENGTH - (shownEnd - start)
  let first = Math.max(0, start - Math.floor(contextLength / 2))
  let last = Math.min(text.length, first + SNIPPET_LENGTH)
  first = Math.max(0, Math.min(first, last - SNIPPET_LENGTH))
  if (splitsSurrogatePair(text, first)) first += 1
  if (splitsSurrogatePair(text, last)) last -= 1
  const middle = text.slice(first, last).replace(/\s+/g, ' ').trim()
  return `${first > 0 ? '…' : ''}${middle}${last < text.length ? '…' : ''}`
}

/** Whether an offset is inside a surrogate pair. */
export function splitsSurrogatePair(text: Text, offset: number): boolean {
  return isBetween(text.charCodeAt(offset - 1), 0xd800, 0xdbff) && isBetween(text.charCodeAt(offset), 0xdc00, 0xdfff)
}

function isBetween(unit: number, low: number, high: number): boolean {
  return unit >= low && unit <= high
}
