import type { Text } from '../../../lib/text/long-text.js'

/** A range of text to search. Matches count that start at `firstMatch` or later and before `limit`. */
export interface SearchWindow {
  start: number
  firstMatch: number
  limit: number
  end: number
}

/**
 * Splits a text into windows of about `size` UTF-16 units, at line ends wherever a line fits into a window. A longer
 * line is split into overlapping windows, with a quarter of their length before and after the range in which matches
 * count.
 */
export function* splitWindows(text: Text, from: number, size: number): Generator<SearchWindow> {
  let start = findLineStart(text, from)
  while (start < text.length) {
    const lineEnd = findLineEnd(text, start)
    if (lineEnd - start > size) {
      yield* splitLine(start, lineEnd, from, size)
      start = lineEnd
      continue
    }
    const end = findLastLineEnd(text, start, size)
    yield { start, firstMatch: Math.max(start, from), limit: end, end }
    start = end
  }
}

function* splitLine(lineStart: number, lineEnd: number, from: number, size: number): Generator<SearchWindow> {
  const margin = Math.floor(size / 4)
  for (let start = lineStart; ; start += 2 * margin) {
    const end = Math.min(start + size, lineEnd)
    const firstMatch = start === lineStart ? start : start + margin
    const limit = end === lineEnd ? end : start + 3 * margin
    if (limit > from) yield { start, firstMatch: Math.max(firstMatch, from), limit, end }
    if (end === lineEnd) return
  }
}

/** The start of the line that contains an offset. */
export function findLineStart(text: Text, from: number): number {
  return from === 0 ? 0 : text.lastIndexOf('\n', from - 1) + 1
}

/** The offset just after the line break. */
export function findLineEnd(text: Text, start: number): number {
  const end = text.indexOf('\n', start)
  return end === -1 ? text.length : end + 1
}

/** The last line end within `size` units; the first line always fits. */
function findLastLineEnd(text: Text, start: number, size: number): number {
  if (start + size >= text.length) return text.length
  return text.lastIndexOf('\n', start + size - 1) + 1
}
