import type { RecognisedLine, RecognisedPage, RuledLine } from '../../store/recognised-pages.js'
import type { TextRun } from '../pdf/pdf-lines.js'
import { mayContainTables } from '../pdf/table-find.js'
import { POINTS_PER_INCH, roundToTenths } from '../render/points.js'
import { findDrawnLines, type PixelLine } from './drawn-lines.js'
import { splitAtLines } from './split-words.js'
import { computeTilt, joinWords, type OcrLine, type OcrText } from './words.js'

/** What Tesseract reads for a lone currency sign before a number. */
const CURRENCY_LIKE = /^(?:[Ss]?[$§][:.;,]?|S|S[.:;,])$/
/** More ruled lines than these belong to a drawing. */
const MAX_RULED_LINES = 600

/**
 * Adds word positions and ruled lines to a recognised page whose text is in columns; tables are found by them. Tilted
 * text is levelled first.
 *
 * @param kept the lines from which the page was made
 */
export function addWordPositions(page: RecognisedPage, kept: readonly OcrLine[], text: OcrText): RecognisedPage {
  const tilt = computeTilt(kept)
  const scale = POINTS_PER_INCH / text.dpi
  const positionWords = (words: readonly OcrLine[]) => positionLines(page, words, text, tilt)
  if (!mayContainTables(positionWords(kept).flatMap(toTextRuns))) return page
  const drawn = findDrawnLines(text.picture, text.dpi, tilt)
  const lines = positionWords(kept.map((line) => splitAtLines(line, drawn.upright, tilt)))
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
  return {
    ...page,
    lines,
    ruled: { level: mergeRuledLines(level, scale), upright: mergeRuledLines(upright, scale), tilt },
  }
}

/** The lines of a page with their current words and the positions of those. */
function positionLines(page: RecognisedPage, kept: readonly OcrLine[], text: OcrText, tilt: number): RecognisedLine[] {
  return page.lines.flatMap(([left, right, y, size], index): RecognisedLine[] => {
    const line = kept[index]
    if (line === undefined || line.words.length === 0) return []
    const confidences = line.words.map(({ confidence }) => confidence)
    return [
      [
        left,
        right,
        y,
        size,
        joinWords(line),
        confidences,
        toWordPositions(line, text, tilt, POINTS_PER_INCH / text.dpi),
      ],
    ]
  })
}

/** Converts the words of a line with positions to runs of text. */
export function toTextRuns([, , , size, text, , positions = []]: RecognisedLine): TextRun[] {
  const letters = [...text.replaceAll(' ', '')]
  const runs: TextRun[] = []
  let letterIndex = 0
  for (let offset = 0; offset + 3 < positions.length; offset += 4) {
    const [left = 0, right = 0, y = 0, count = 0] = positions.slice(offset, offset + 4)
    const word = letters.slice(letterIndex, letterIndex + count).join('')
    letterIndex += count
    const next = letters[letterIndex]
    const str = CURRENCY_LIKE.test(word) && next !== undefined && /[\d(.]/.test(next) ? '$' : word
    runs.push({ str, transform: [size, 0, 0, size, left, y], width: right - left, height: size })
  }
  return runs
}

function toWordPositions(line: OcrLine, { height }: OcrText, tilt: number, scale: number): number[] {
  const middle = (line.left + line.right) / 2
  return line.words.flatMap(({ text, left, right }) => {
    const baseline = line.baseline + line.tilt * ((left + right) / 2 - middle)
    const y = height - (baseline - tilt * ((left + right) / 2))
    const shift = tilt * baseline
    const count = [...text.replaceAll(' ', '')].length
    return [
      roundToTenths((left + shift) * scale),
      roundToTenths((right + shift) * scale),
      roundToTenths(y * scale),
      count,
    ]
  })
}

/** Merges adjacent segments of one ruled line; in points. */
function mergeRuledLines(segments: readonly PixelLine[], scale: number): RuledLine[] {
  const lines: (PixelLine & { sum: number; count: number })[] = []
  const open: typeof lines = []
  for (const segment of [...segments].sort((a, b) => a.at - b.at)) {
    while (open[0] !== undefined && segment.at - open[0].at > 1.2 / scale) open.shift()
    const existing = open.find(({ from, to }) => segment.from <= to + 1 / scale && from <= segment.to + 1 / scale)
    if (existing === undefined) {
      const line = { ...segment, sum: segment.at, count: 1 }
      lines.push(line)
      open.push(line)
      continue
    }
    existing.from = Math.min(existing.from, segment.from)
    existing.to = Math.max(existing.to, segment.to)
    existing.sum += segment.at
    existing.count++
  }
  if (lines.length > MAX_RULED_LINES) return []
  return lines.map(({ from, to, sum, count }) => [
    roundToTenths((sum / count) * scale),
    roundToTenths(from * scale),
    roundToTenths(to * scale),
  ])
}
