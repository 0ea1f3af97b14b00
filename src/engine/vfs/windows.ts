import type { Text } from '../../lib/text/long-text.js'

/** A range of text to search. Matches count that start at `firstMatch` or later and before `limit`. */
export interface Window {
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
export function* windowsOf(text: Text, from: number, size: number): Generator<Window> {
  let start = lineStart(text, from)
  while (start < text.length) {
    const lineEnd = endOfLine(text, start)
    if (lineEnd - start > size) {
      yield* windowsOfLine(start, lineEnd, from, size)
      start = lineEnd
      continue
    }
    const end = lastLineEnd(text, start, size)
    yield { start, firstMatch: Math.max(start, from), limit: end, end }
    start = end
  }
}

function* windowsOfLine(lineStart: number, lineEnd: number, from: number, size: number): Generator<Window> {
  const margin = Math.floor(size / 4)
  for (let start = lineStart; ; start += 2 * margin) {
    const end = Math.min(start + size, lineEnd)
    const firstMatch = start === lineStart ? start : start + margin
    const limit = end === lineEnd ? end : start + 3 * margin
    if (limit > from) yield { start, firstMatch: Math.max(firstMatch, from), limit, end }
    if (end === lineEnd) return
  }
}

function lineStart(text: Text, from: number): number {
  return from === 0 ? 0 : text.lastIndexOf('\n', from - 1) + 1
}

/** The offset just after the line break. */
function endOfLine(text: Text, start: number): number {
  const end = text.indexOf('\n', start)
  return end === -1 ? text.length : end + 1
}

/** The last line end within `size` units; the first line always fits. */
function lastLineEnd(text: Text, start: number, size: number): number {
  if (start + size >= text.length) return text.length
  return text.lastIndexOf('\n', start + size - 1) + 1
}
