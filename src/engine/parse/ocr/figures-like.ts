import { isFigure } from '../pdf/table-words.js'
import { type RowOfWords, rowsOfLines } from './missed-words.js'
import { type Line, tiltOf, type Word } from './words.js'

/** A figure with letters and signs that 1 and 0 are taken for. */
const LIKE = /^\(?[\dilItoO|!][\d.,ilItoO|!]{0,10}\)?%?$/
/** Words that are surer than this, in per cent, and longer than a letter are what they are. */
const SURE = 97
/** In text sizes: as far from its neighbours in the row, and ends of a column so near to each other. */
const APART = 1
const ALIGNED = 0.5
/** Figures of a column that show that it is one, among the words that stand there in so many rows around. */
const LEAST_FIGURES = 3
const FIGURES = 0.6
const ROWS_AROUND = 20
/** words of one page that are looked at */
const MOST = 200

/** Makes figures of words that stand alone in a column of figures and look like some: 11 of `it`, 1 of `i`. */
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
