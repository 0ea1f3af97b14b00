import { isNumberText } from '../pdf/table-words.js'
import { groupIntoRows, type WordRow } from './missed-words.js'
import { computeTilt, type OcrLine, type OcrWord } from './words.js'

/** A number in which letters and signs may stand for 1 and 0. */
const NUMBER_LIKE = /^\(?[\dilItoO|!][\d.,ilItoO|!]{0,10}\)?%?$/
/** Words longer than a letter with at least this confidence, in percent, are not changed. */
const CERTAIN_CONFIDENCE = 97
/**
 * In text sizes: minimal distance from neighbours in the row, and maximal distance between aligned ends in a column.
 */
const MIN_GAP = 1
const MAX_MISALIGNMENT = 0.5
/**
 * A column is numeric with at least this many numbers, and this fraction of numbers among its words in the neighbouring
 * rows.
 */
const MIN_NUMBERS = 3
const MIN_NUMBER_FRACTION = 0.6
const NEIGHBOUR_ROWS = 20
/** Maximal number of corrected words of a page. */
const MAX_WORDS = 200

/** Corrects words that stand alone in a column of numbers and look like a number: `it` becomes 11, `i` becomes 1. */
export function correctMisreadNumbers(lines: readonly OcrLine[]): OcrLine[] {
  const rows = groupIntoRows(lines, computeTilt(lines))
  const misread = findMisreadNumbers(rows)
  if (misread.size === 0) return [...lines]
  const corrected = (word: OcrWord): OcrWord =>
    misread.has(word) ? { ...word, text: word.text.replace(/[ilIt|!]/g, '1').replace(/o/gi, '0') } : word
  return lines.map((line) => ({ ...line, words: line.words.map(corrected) }))
}

function findMisreadNumbers(rows: readonly WordRow[]): Set<OcrWord> {
  const words = new Set<OcrWord>()
  for (const [index, row] of rows.entries()) {
    for (const word of row.words) {
      if (words.size === MAX_WORDS) return words
      if (
        !NUMBER_LIKE.test(word.text) ||
        !/[a-z|!]/i.test(word.text) ||
        word.confidence >= CERTAIN_CONFIDENCE ||
        !isAlone(word, row)
      )
        continue
      if (isInColumn(word, row.size, rows.slice(Math.max(0, index - NEIGHBOUR_ROWS), index + NEIGHBOUR_ROWS + 1)))
        words.add(word)
    }
  }
  return words
}

function isAlone(word: OcrWord, { words, size }: WordRow): boolean {
  return words.every(
    (other) => other === word || other.right < word.left - MIN_GAP * size || other.left > word.right + MIN_GAP * size,
  )
}

function isInColumn(word: OcrWord, size: number, neighbours: readonly WordRow[]): boolean {
  let numbers = 0
  let others = 0
  for (const { words } of neighbours) {
    const sameColumn = words.filter(
      (candidate) => candidate !== word && candidate.left < word.right && candidate.right > word.left,
    )
    for (const { text, left, right } of sameColumn) {
      const isAligned =
        Math.abs(right - word.right) < MAX_MISALIGNMENT * size || Math.abs(left + right - word.left - word.right) < size
      if (isNumberText(text) && isAligned) numbers++
      else if (!NUMBER_LIKE.test(text)) others++
    }
  }
  return numbers >= MIN_NUMBERS && numbers >= MIN_NUMBER_FRACTION * (numbers + others)
}
