import type { TextRun } from '../pdf/pdf-lines.js'
import { mayHoldTables } from '../pdf/table-find.js'
import { POINTS_PER_INCH, tenths } from '../render/points.js'
import { cutAtLines } from './cut-words.js'
import { linesDrawn, type PixelLine } from './drawn-lines.js'
import type { RecognisedLine, RecognisedPage, RuledLine } from './pages-read.js'
import { joined, type Line, type PageText, tiltOf } from './words.js'

/** What Tesseract reads for a lone currency sign before a number. */
const LIKE_CURRENCY = /^(?:[Ss]?[$§][:.;,]?|S|S[.:;,])$/
/** More ruled lines than these belong to a drawing. */
const MOST_RULED = 600

/**
 * Adds word positions and ruled lines to a recognised page whose text is in columns; tables are found by them. Tilted
 * text is levelled first.
 *
 * @param kept the lines from which the page was made
 */
export function withPlaces(page: RecognisedPage, kept: readonly Line[], text: PageText): RecognisedPage {
  const tilt = tiltOf(kept)
  const scale = POINTS_PER_INCH / text.dpi
  const placed = (words: readonly Line[]) => placedLines(page, words, text, tilt)
  if (!mayHoldTables(placed(kept).flatMap(runsOfLine))) return page
  const drawn = linesDrawn(text.picture, text.dpi, tilt)
  const lines = placed(kept.map((line) => cutAtLines(line, drawn.upright, tilt)))
  const level = drawn.level.map(({ at, from, to }) => ({
    at: text.height - at,
    from: from + tilt * at,
    to: to + tilt * at,
  }))
  const upright = drawn.upright.map(({ at, from, to }) => ({
    at,
    from: text.height - to + tilt * at,
    to: text.height - from + tilt * at,
  }))
  return { ...page, lines, ruled: { level: ruled(level, scale), upright: ruled(upright, scale), tilt } }
}

/** The lines of a page with their current words and the positions of those. */
function placedLines(page: RecognisedPage, kept: readonly Line[], text: PageText, tilt: number): RecognisedLine[] {
  return page.lines.flatMap(([left, right, y, size], index): RecognisedLine[] => {
    const line = kept[index]
    if (line === undefined || line.words.length === 0) return []
    const confidences = line.words.map(({ confidence }) => confidence)
    return [[left, right, y, size, joined(line), confidences, wordsOf(line, text, tilt, POINTS_PER_INCH / text.dpi)]]
  })
}

/** Converts the words of a line with positions to runs of text. */
export function runsOfLine([, , , size, text, , places = []]: RecognisedLine): TextRun[] {
  const letters = [...text.replaceAll(' ', '')]
  const runs: TextRun[] = []
  let at = 0
  for (let place = 0; place + 3 < places.length; place += 4) {
    const [left = 0, right = 0, y = 0, count = 0] = places.slice(place, place + 4)
    const word = letters.slice(at, at + count).join('')
    at += count
    const next = letters[at]
    const str = LIKE_CURRENCY.test(word) && next !== undefined && /[\d(.]/.test(next) ? '$' : word
    runs.push({ str, transform: [size, 0, 0, size, left, y], width: right - left, height: size })
  }
  return runs
}

function wordsOf(line: Line, { height }: PageText, tilt: number, scale: number): number[] {
  const middle = (line.left + line.right) / 2
  return line.words.flatMap(({ text, left, right }) => {
    const baseline = line.baseline + line.tilt * ((left + right) / 2 - middle)
    const y = height - (baseline - tilt * ((left + right) / 2))
    const across = tilt * baseline
    const count = [...text.replaceAll(' ', '')].length
    return [tenths((left + across) * scale), tenths((right + across) * scale), tenths(y * scale), count]
  })
}

/** Merges adjacent segments of one ruled line; in points. */
function ruled(stretches: readonly PixelLine[], scale: number): RuledLine[] {
  const lines: (PixelLine & { sum: number; count: number })[] = []
  const open: typeof lines = []
  for (const one of [...stretches].sort((a, b) => a.at - b.at)) {
    while (open[0] !== undefined && one.at - open[0].at > 1.2 / scale) open.shift()
    const same = open.find(({ from, to }) => one.from <= to + 1 / scale && from <= one.to + 1 / scale)
    if (same === undefined) {
      const line = { ...one, sum: one.at, count: 1 }
      lines.push(line)
      open.push(line)
      continue
    }
    same.from = Math.min(same.from, one.from)
    same.to = Math.max(same.to, one.to)
    same.sum += one.at
    same.count++
  }
  if (lines.length > MOST_RULED) return []
  return lines.map(({ from, to, sum, count }) => [
    tenths((sum / count) * scale),
    tenths(from * scale),
    tenths(to * scale),
  ])
}
