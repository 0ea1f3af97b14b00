import { buildWordTable, countWords, type WordOffsets } from './words.js'

/** A range of a text: `[start, end)` in UTF-16 units. */
export interface TextSpan {
  start: number
  end: number
}

export interface SplitSizes {
  /** approximate maximum of words of a piece */
  maxWords: number
  /** words that two neighbouring pieces share */
  overlapWords: number
}

/** How far a split may move to fall between two sentences, as a fraction of the largest piece. */
const SENTENCE_REACH = 0.15

/**
 * Splits running text into overlapping pieces of about equal length, at sentence ends where one is near.
 *
 * Equal pieces instead of full ones and a remainder: a passage just over the limit gives two useful halves.
 */
export function splitText(text: string, sizes: SplitSizes): TextSpan[] {
  const words = buildWordTable(text)
  const total = valueAt(words.wordsBefore, words.starts.length)
  if (words.starts.length === 0) return []
  const pieceCount = Math.max(1, Math.ceil((total - sizes.overlapWords) / (sizes.maxWords - sizes.overlapWords)))
  const reach = sizes.maxWords * SENTENCE_REACH
  const ranges: TextSpan[] = []
  let first = 0
  for (;;) {
    // The rest is distributed again each time, so that early splits never add up to a short piece at the end.
    const remainingPieces = Math.max(1, pieceCount - ranges.length)
    const start = valueAt(words.wordsBefore, first)
    const target = start + (total - start + sizes.overlapWords * (remainingPieces - 1)) / remainingPieces
    let last = remainingPieces === 1 ? words.starts.length : findSplit(text, words, target, reach)
    if (last <= first) last = first + 1
    ranges.push({ start: valueAt(words.starts, first), end: valueAt(words.ends, last - 1) })
    if (last >= words.starts.length) return ranges
    const overlapStart = findSplit(
      text,
      words,
      valueAt(words.wordsBefore, last) - sizes.overlapWords,
      sizes.overlapWords / 2,
    )
    first = Math.min(last, Math.max(first + 1, overlapStart))
  }
}

/**
 * Splits text into pieces of complete lines; a line that is too long is split as running text.
 *
 * @param largest maximum of words of a piece
 * @param headerLength units at the start of the text that belong to every piece; no range contains them
 */
export function splitLines(text: string, largest: number, headerLength = 0): TextSpan[] {
  const capacity = Math.max(largest / 2, largest - countWords(text.slice(0, headerLength)))
  const ranges: TextSpan[] = []
  let current: TextSpan | undefined
  let currentWords = 0
  let start = headerLength
  while (start < text.length) {
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline
    const words = countWords(text.slice(start, end))
    if (words > capacity * 1.2) {
      if (current !== undefined) ranges.push(current)
      current = undefined
      currentWords = 0
      const lineStart = start
      const parts = splitText(text.slice(start, end), { maxWords: capacity, overlapWords: 0 })
      for (const part of parts) ranges.push({ start: part.start + lineStart, end: part.end + lineStart })
    } else if (words > 0) {
      if (current !== undefined && currentWords + words > capacity) {
        ranges.push(current)
        current = undefined
        currentWords = 0
      }
      current = { start: current?.start ?? start, end }
      currentWords += words
    }
    start = end + 1
  }
  if (current !== undefined) ranges.push(current)
  return ranges
}

/** Index of the best word to split before, where about `target` words should precede it. */
function findSplit(text: string, words: WordOffsets, target: number, reach: number): number {
  const count = words.starts.length
  const middle = lowerBound(words.wordsBefore, target, count)
  for (let distance = 0; distance <= count; distance++) {
    const up = middle + distance
    const down = middle - distance
    const upIn = up < count && valueAt(words.wordsBefore, up) - target <= reach
    const downIn = down > 0 && target - valueAt(words.wordsBefore, down) <= reach
    if (upIn && endsSentence(text, valueAt(words.ends, up - 1))) return up
    if (downIn && endsSentence(text, valueAt(words.ends, down - 1))) return down
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
    if (valueAt(sorted, middle) < value) low = middle + 1
    else high = middle
  }
  return low
}

function valueAt(numbers: number[], index: number): number {
  return numbers[index] ?? 0
}
