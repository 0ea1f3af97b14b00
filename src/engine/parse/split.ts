import { countWords, type WordTable, wordTable } from './words.js'

/** A range of a text: `[start, end)` in UTF-16 units. */
export interface Range {
  start: number
  end: number
}

export interface SplitSizes {
  /** approximate maximum of words of a piece */
  largest: number
  /** words that two neighbouring pieces share */
  overlap: number
}

/** How far a split may move to fall between two sentences, as a fraction of the largest piece. */
const SENTENCE_REACH = 0.15

/**
 * Splits running text into overlapping pieces of about equal length, at sentence ends where one is near.
 *
 * Equal pieces instead of full ones and a remainder: a passage just over the limit gives two useful halves.
 */
export function splitText(text: string, sizes: SplitSizes): Range[] {
  const words = wordTable(text)
  const total = at(words.before, words.starts.length)
  if (words.starts.length === 0) return []
  const pieces = Math.max(1, Math.ceil((total - sizes.overlap) / (sizes.largest - sizes.overlap)))
  const reach = sizes.largest * SENTENCE_REACH
  const ranges: Range[] = []
  let first = 0
  for (;;) {
    // The rest is distributed again each time, so that early splits never add up to a short piece at the end.
    const left = Math.max(1, pieces - ranges.length)
    const start = at(words.before, first)
    const goal = start + (total - start + sizes.overlap * (left - 1)) / left
    let last = left === 1 ? words.starts.length : nearestBorder(text, words, goal, reach)
    if (last <= first) last = first + 1
    ranges.push({ start: at(words.starts, first), end: at(words.ends, last - 1) })
    if (last >= words.starts.length) return ranges
    const back = nearestBorder(text, words, at(words.before, last) - sizes.overlap, sizes.overlap / 2)
    first = Math.min(last, Math.max(first + 1, back))
  }
}

/**
 * Splits text into pieces of complete lines; a line that is too long is split as running text.
 *
 * @param largest maximum of words of a piece
 * @param headerLength units at the start of the text that belong to every piece; no range contains them
 */
export function splitLines(text: string, largest: number, headerLength = 0): Range[] {
  const room = Math.max(largest / 2, largest - countWords(text.slice(0, headerLength)))
  const ranges: Range[] = []
  let current: Range | undefined
  let held = 0
  let start = headerLength
  while (start < text.length) {
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline
    const words = countWords(text.slice(start, end))
    if (words > room * 1.2) {
      if (current !== undefined) ranges.push(current)
      current = undefined
      held = 0
      const lineStart = start
      const parts = splitText(text.slice(start, end), { largest: room, overlap: 0 })
      for (const part of parts) ranges.push({ start: part.start + lineStart, end: part.end + lineStart })
    } else if (words > 0) {
      if (current !== undefined && held + words > room) {
        ranges.push(current)
        current = undefined
        held = 0
      }
      current = { start: current?.start ?? start, end }
      held += words
    }
    start = end + 1
  }
  if (current !== undefined) ranges.push(current)
  return ranges
}

/** Index of the best word to split before, where about `target` words should precede it. */
function nearestBorder(text: string, words: WordTable, goal: number, reach: number): number {
  const count = words.starts.length
  const middle = lowerBound(words.before, goal, count)
  for (let distance = 0; distance <= count; distance++) {
    const up = middle + distance
    const down = middle - distance
    const upIn = up < count && at(words.before, up) - goal <= reach
    const downIn = down > 0 && goal - at(words.before, down) <= reach
    if (upIn && endsSentence(text, at(words.ends, up - 1))) return up
    if (downIn && endsSentence(text, at(words.ends, down - 1))) return down
    if (!upIn && !downIn) break
  }
  return Math.min(middle, count)
}

/** Whether a sentence ends just before this offset, closing quotes and brackets included. */
function endsSentence(text: string, end: number): boolean {
  for (let i = end - 1; i >= 0 && i >= end - 3; i--) {
    const char = text.charAt(i)
    if ('.!?。！？…'.includes(char)) return true
    if (!'"\'”’)]»」』'.includes(char)) return false
  }
  return false
}

function lowerBound(sorted: number[], value: number, count: number): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >> 1
    if (at(sorted, middle) < value) low = middle + 1
    else high = middle
  }
  return low
}

function at(numbers: number[], index: number): number {
  return numbers[index] ?? 0
}
