import type { PixelLine } from './drawn-lines.js'
import type { Line, Word } from './words.js'

/** What Tesseract takes an upright line between two columns for, the likeliest first. */
const BARS = [/[|¦]/, /[[\]{}()/\\!]/, /[Il1]/]
/** at an end of a word only what is hardly ever a part of it */
const BAR_AT_END = /[|¦]/
/** An upright line is so many times as long as text is high; strokes of letters are shorter. */
const LONGER = 1.6
/** a bar is looked for so many letters around the place of the line */
const NEAR = 1.6

/**
 * A line of text whose words are cut where an upright line goes through them: letters of two columns that stand close to what
 * is ruled between them are read as one word, with the line as one of its letters or without it.
 *
 * @param upright lines of the picture, as `linesDrawn` finds them
 * @param tilt how far text of the page falls from one pixel to the next
 */
export function cutAtLines(line: Line, upright: readonly PixelLine[], tilt: number): Line {
  const middle = (line.left + line.right) / 2
  const words = line.words.flatMap((word) => {
    const y = line.baseline + line.tilt * ((word.left + word.right) / 2 - middle) - line.size / 3
    const passing = upright
      .filter(({ from, to }) => from <= y && y <= to && to - from >= LONGER * line.size)
      .map(({ at }) => at - tilt * y)
      .sort((a, b) => b - a)
    return pieces(word, passing, line.size)
  })
  return words.length === line.words.length && words.every((word, at) => word === line.words[at])
    ? line
    : { ...line, words }
}

/** @param places of upright lines, the rightmost first */
function pieces(word: Word, places: readonly number[], size: number): Word[] {
  const pieces: Word[] = []
  let rest = word
  for (const place of places) {
    const letters = [...rest.text]
    const width = (rest.right - rest.left) / letters.length
    if (place < rest.left - width || place > rest.right + width) continue
    const cut = cutOf(letters, (place - rest.left) / width, size / width)
    if (cut === undefined) continue
    const behind = letters.slice(cut.to).join('')
    if (behind !== '') pieces.unshift({ ...rest, text: behind, left: Math.max(place, rest.left) })
    rest = { ...rest, text: letters.slice(0, cut.from).join(''), right: Math.min(place, rest.right) }
    if (rest.text === '') return pieces
  }
  return rest === word ? [word] : [rest, ...pieces]
}

/**
 * Where letters are cut, and which of them is the line itself.
 *
 * @param place of the line, in letters from the left
 * @param tall height of the text in widths of a letter
 */
function cutOf(letters: readonly string[], place: number, tall: number): { from: number; to: number } | undefined {
  const isNear = (at: number) => Math.abs(at + 0.5 - place) <= NEAR
  for (const at of [0, letters.length - 1])
    if (isNear(at) && BAR_AT_END.test(letters[at] ?? '')) return { from: at, to: at + 1 }
  // a line beside a word is none of its letters
  const inside = Math.min(1, 0.4 * tall)
  if (place < inside || place > letters.length - inside) return undefined
  for (const bar of BARS) {
    const found = letters
      .flatMap((letter, at) => (bar.test(letter) && isNear(at) && at > 0 && at < letters.length - 1 ? [at] : []))
      .sort((a, b) => Math.abs(a + 0.5 - place) - Math.abs(b + 0.5 - place))[0]
    if (found !== undefined) return { from: found, to: found + 1 }
  }
  const at = Math.round(place)
  return at <= 0 || at >= letters.length ? undefined : { from: at, to: at }
}
