import type { PixelLine } from './drawn-lines.js'
import type { OcrLine, OcrWord } from './words.js'

/** Characters for which Tesseract takes an upright line between two columns, the likeliest first. */
const BARS = [/[|¦]/, /[[\]{}()/\\!]/, /[Il1]/]
/** At an end of a word, only a character that is hardly ever part of a word. */
const BAR_AT_END = /[|¦]/
/** Minimal length of an upright line in heights of the text; strokes of letters are shorter. */
const MIN_LINE_HEIGHT_FACTOR = 1.6
/** Maximal distance of the bar from the line, in letters. */
const MAX_BAR_DISTANCE = 1.6

/**
 * Splits the words of a text line where an upright line crosses them. Tesseract reads the letters of two columns close
 * to a ruled line as one word, with the line as a letter or without it.
 *
 * @param upright upright lines of the picture, from `findDrawnLines`
 * @param tilt slope of the page's text, in pixels per pixel
 */
export function splitAtLines(line: OcrLine, upright: readonly PixelLine[], tilt: number): OcrLine {
  const middle = (line.left + line.right) / 2
  const words = line.words.flatMap((word) => {
    const y = line.baseline + line.tilt * ((word.left + word.right) / 2 - middle) - line.size / 3
    const crossings = upright
      .filter(({ from, to }) => from <= y && y <= to && to - from >= MIN_LINE_HEIGHT_FACTOR * line.size)
      .map(({ at }) => at - tilt * y)
      .sort((a, b) => b - a)
    return splitWord(word, crossings, line.size)
  })
  return words.length === line.words.length && words.every((word, index) => word === line.words[index])
    ? line
    : { ...line, words }
}

/** @param positions positions of upright lines, the rightmost first */
function splitWord(word: OcrWord, positions: readonly number[], size: number): OcrWord[] {
  const pieces: OcrWord[] = []
  let rest = word
  for (const position of positions) {
    const letters = [...rest.text]
    const width = (rest.right - rest.left) / letters.length
    if (position < rest.left - width || position > rest.right + width) continue
    const split = findSplit(letters, (position - rest.left) / width, size / width)
    if (split === undefined) continue
    const tail = letters.slice(split.to).join('')
    if (tail !== '') pieces.unshift({ ...rest, text: tail, left: Math.max(position, rest.left) })
    rest = { ...rest, text: letters.slice(0, split.from).join(''), right: Math.min(position, rest.right) }
    if (rest.text === '') return pieces
  }
  return rest === word ? [word] : [rest, ...pieces]
}

/**
 * Finds where to split letters; the range from `from` to `to` is the line itself.
 *
 * @param position position of the line, in letters from the left
 * @param tall height of the text in widths of a letter
 */
function findSplit(
  letters: readonly string[],
  position: number,
  tall: number,
): { from: number; to: number } | undefined {
  const isNear = (index: number) => Math.abs(index + 0.5 - position) <= MAX_BAR_DISTANCE
  for (const index of [0, letters.length - 1])
    if (isNear(index) && BAR_AT_END.test(letters[index] ?? '')) return { from: index, to: index + 1 }
  // a line next to a word is not one of its letters
  const inside = Math.min(1, 0.4 * tall)
  if (position < inside || position > letters.length - inside) return undefined
  for (const bar of BARS) {
    const found = letters
      .flatMap((letter, index) =>
        bar.test(letter) && isNear(index) && index > 0 && index < letters.length - 1 ? [index] : [],
      )
      .sort((a, b) => Math.abs(a + 0.5 - position) - Math.abs(b + 0.5 - position))[0]
    if (found !== undefined) return { from: found, to: found + 1 }
  }
  const index = Math.round(position)
  return index <= 0 || index >= letters.length ? undefined : { from: index, to: index }
}
