import { POINTS_PER_INCH, tenths } from '../render/points.js'
import type { RecognisedLine, RecognisedPage } from './pages-read.js'
import { withPlaces } from './word-places.js'
import { joined, type Line, meanConfidence, type PageText } from './words.js'

/**
 * Lines whose size differs from the usual size of the page by less than this fraction get the usual size: heights of
 * letters vary.
 */
const SAME_SIZE = 0.22
/** A line with a lower mean confidence, in percent, is made of specks and ornaments. */
const NOISE = 25

/** Converts the recognised text of a page to points and drops noise. */
export function recognisedPage(page: number, text: PageText): RecognisedPage {
  const scale = POINTS_PER_INCH / text.dpi
  const kept = text.lines.filter(isText)
  const usual = usualSize(kept)
  const lines = kept.map((line): RecognisedLine => {
    const size = Math.abs(line.size - usual) < SAME_SIZE * usual ? usual : line.size
    return [
      tenths(line.left * scale),
      tenths(line.right * scale),
      tenths((text.height - line.baseline) * scale),
      tenths(size * scale),
      joined(line),
      line.words.map(({ confidence }) => confidence),
    ]
  })
  const read: RecognisedPage = {
    page,
    lines,
    confidence: meanConfidence(kept.flatMap(({ words }) => words)),
    size: [tenths(text.width * scale), tenths(text.height * scale)],
    ...(text.rotation === 0 ? {} : { rotation: text.rotation }),
  }
  return withPlaces(read, kept, text)
}

function isText({ words }: Line): boolean {
  return meanConfidence(words) >= NOISE && words.some(({ text }) => /[\p{L}\p{N}]/u.test(text))
}

/** The size of most letters. */
function usualSize(lines: readonly Line[]): number {
  const sizes = lines
    .map(({ size, words }) => ({ size, letters: words.reduce((sum, { text }) => sum + text.length, 0) }))
    .sort((a, b) => a.size - b.size)
  let left = sizes.reduce((sum, { letters }) => sum + letters, 0) / 2
  for (const { size, letters } of sizes) {
    left -= letters
    if (left <= 0) return size
  }
  return 0
}
