import { POINTS_PER_INCH, tenths } from '../render/points.js'
import type { RecognisedLine, RecognisedPage } from './pages-read.js'
import { withPlaces } from './word-places.js'
import { joined, type Line, meanConfidence, type PageText } from './words.js'

/** Lines whose size differs from the page's usual one by less than this share are of that size: letters of a row differ. */
const SAME_SIZE = 0.22
/** Words that Tesseract is less sure of than this are specks and ornaments, when a whole line is made of them. */
const NOISE = 25

/** What was read of a page, in points; what is noise is left out. */
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
