import { expect, it } from 'vitest'
import { splitAtLines } from '../../../../src/engine/readers/ocr/split-words.js'
import type { OcrLine } from '../../../../src/engine/readers/ocr/words.js'

const LETTER = 10

/** Words with 10 pixels a letter, 20 pixels high, on a baseline at 100. */
function line(...words: [left: number, text: string][]): OcrLine {
  const placed = words.map(([left, text]) => ({
    text,
    confidence: 90,
    left,
    right: left + LETTER * text.length,
    top: 82,
    bottom: 104,
  }))
  const right = Math.max(...placed.map((word) => word.right))
  return { words: placed, left: words[0]?.[0] ?? 0, right, top: 82, bottom: 104, size: 20, baseline: 100, tilt: 0 }
}

const upright = (at: number, from = 0, to = 400) => ({ at, from, to })
const cut = (read: OcrLine, places: ReturnType<typeof upright>[], tilt = 0) =>
  splitAtLines(read, places, tilt).words.map(({ text, left, right }) => [text, left, right])

it('a recognised word across a column line becomes two words, without the letter that was read for the line', () => {
  expect(cut(line([0, 'Processing|total']), [upright(105)])).toEqual([
    ['Processing', 0, 105],
    ['total', 105, 160],
  ])
  expect(cut(line([0, 'chunks/mean']), [upright(66)])).toEqual([
    ['chunks', 0, 66],
    ['mean', 66, 110],
  ])
  expect(cut(line([0, 'PaidlDue']), [upright(45)]).map(([text]) => text)).toEqual(['Paid', 'Due'])
  expect(cut(line([0, '1,204873']), [upright(50)]).map(([text]) => text)).toEqual(['1,204', '873'])
  expect(cut(line([0, 'a1|b2|c3']), [upright(25), upright(55)]).map(([text]) => text)).toEqual(['a1', 'b2', 'c3'])
})

it('a recognised bar at the end of a word, or alone, disappears if a column line is drawn there', () => {
  const places = [upright(45), upright(105)]
  expect(cut(line([0, '512|'], [60, '16|'], [100, '|']), places).map(([text]) => text)).toEqual(['512', '16|'])
})

it('recognised words without a column line through them stay unchanged', () => {
  const read = line([0, 'either/or'], [120, '|x|'], [200, 'Illness'])
  expect(splitAtLines(read, [], 0)).toBe(read)
  // Lines next to the words, above them, and shorter than a letter.
  expect(splitAtLines(read, [upright(105), upright(66, 0, 60), upright(215, 80, 104)], 0)).toBe(read)
  // At the edge of a word whose last letters are digits.
  const figures = line([0, '2011'])
  expect(splitAtLines(figures, [upright(39)], 0)).toBe(figures)
})

it('a column line on a skewed page is searched where it crosses the row', () => {
  const places = [upright(114.4)]
  expect(cut(line([0, 'Processing|total']), places, 0.1).map(([text]) => text)).toEqual(['Processing', 'total'])
})
