import type { RecognisedLine, RecognisedPage } from '../../store/recognised-pages.js'
import { POINTS_PER_INCH, roundToTenths } from '../render/points.js'
import { addWordPositions } from './word-positions.js'
import { computeMeanConfidence, joinWords, type OcrLine, type OcrText } from './words.js'

/**
 * Lines whose size differs from the usual size of the page by less than this fraction get the usual size: heights of
 * letters vary.
 */
const SIZE_TOLERANCE = 0.22
/** A line with a lower mean confidence, in percent, is made of specks and ornaments. */
const MIN_LINE_CONFIDENCE = 25

/** Converts the recognised text of a page to points and drops noise. */
export function toRecognisedPage(page: number, text: OcrText): RecognisedPage {
  const scale = POINTS_PER_INCH / text.dpi
  const textLines = text.lines.filter(isText)
  const commonSize = computeUsualSize(textLines)
  const lines = textLines.map((line): RecognisedLine => {
    const size = Math.abs(line.size - commonSize) < SIZE_TOLERANCE * commonSize ? commonSize : line.size
    return [
      roundToTenths(line.left * scale),
      roundToTenths(line.right * scale),
      roundToTenths((text.height - line.baseline) * scale),
      roundToTenths(size * scale),
      joinWords(line),
      line.words.map(({ confidence }) => confidence),
    ]
  })
  const result: RecognisedPage = {
    page,
    lines,
    confidence: computeMeanConfidence(textLines.flatMap(({ words }) => words)),
    size: [roundToTenths(text.width * scale), roundToTenths(text.height * scale)],
    ...(text.rotation === 0 ? {} : { rotation: text.rotation }),
  }
  return addWordPositions(result, textLines, text)
}

function isText({ words }: OcrLine): boolean {
  return computeMeanConfidence(words) >= MIN_LINE_CONFIDENCE && words.some(({ text }) => /[\p{L}\p{N}]/u.test(text))
}

/** The size of most letters. */
function computeUsualSize(lines: readonly OcrLine[]): number {
  const sizes = lines
    .map(({ size, words }) => ({ size, letters: words.reduce((sum, { text }) => sum + text.length, 0) }))
    .sort((a, b) => a.size - b.size)
  let remaining = sizes.reduce((sum, { letters }) => sum + letters, 0) / 2
  for (const { size, letters } of sizes) {
    remaining -= letters
    if (remaining <= 0) return size
  }
  return 0
}
