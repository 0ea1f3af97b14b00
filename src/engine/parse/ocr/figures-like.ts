import { isFigure } from '../pdf/table-words.js'
import { type RowOfWords, rowsOfLines } from './missed-words.js'
import { type Line, tiltOf, type Word } from './words.js'

/** A number in which letters and signs may stand for 1 and 0. */
const LIKE = /^\(?[\dilItoO|!][\d.,ilItoO|!]{0,10}\)?%?$/
/** Words longer than a letter with at least this confidence, in percent, are not changed. */
const SURE = 97
/**
 * In text sizes: minimal distance from neighbours in the row, and maximal distance between aligned ends in a column.
 */
const APART = 1
const ALIGNED = 0.5
/**
 * A column is numeric with at least this many numbers, and this fraction of numbers among its words in the neighbouring
 * rows.
 */
const LEAST_FIGURES = 3
const FIGURES = 0.6
const ROWS_AROUND = 20
/** Maximal number of corrected words of a page. */
const MOST = 200

/** Corrects words that stand alone in a column of numbers and look like a number: `it` becomes 11, `i` becomes 1. */
export function withFigures(lines: readonly Line[]): Line[] {
  const rows = rowsOfLines(lines, tiltOf(lines))
  const like = figuresLike(rows)
  if (like.size === 0) return [...lines]
  const corrected = (word: Word): Word =>
    like.has(word) ? { ...word, text: word.text.replace(/[ilIt|!]/g, '1').replace(/o/gi, '0') } : word
  return lines.map((line) => ({ ...line, words: line.words.map(corrected) }))
}

function figuresLike(rows: readonly RowOfWords[]): Set<Word> {
  const words = new Set<Word>()
  for (const [at, row] of rows.entries()) {
    for (const word of row.words) {
      if (words.size === MOST) return words
      if (!LIKE.test(word.text) || !/[a-z|!]/i.test(word.text) || word.confidence >= SURE || !isAlone(word, row))
        continue
      if (isInColumn(word, row.size, rows.slice(Math.max(0, at - ROWS_AROUND), at + ROWS_AROUND + 1))) words.add(word)
    }
  }
  return words
}

function isAlone(word: Word, { words, size }: RowOfWords): boolean {
  return words.every(
    (other) => other === word || other.right < word.left - APART * size || other.left > word.right + APART * size,
  )
}

function isInColumn(word: Word, size: number, around: readonly RowOfWords[]): boolean {
  let figures = 0
  let others = 0
  for (const { words } of around) {
    const beside = words.filter((one) => one !== word && one.left < word.right && one.right > word.left)
    for (const { text, left, right } of beside) {
      const isAligned =
        Math.abs(right - word.right) < ALIGNED * size || Math.abs(left + right - word.left - word.right) < size
      if (isFigure(text) && isAligned) figures++
      else if (!LIKE.test(text)) others++
    }
  }
  return figures >= LEAST_FIGURES && figures >= FIGURES * (figures + others)
}
