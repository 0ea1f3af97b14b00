import { isRecord } from '../../../lib/json/values.js'
import type { PdfLine } from '../pdf/pdf-lines.js'
import type { RecognisedLine, RecognisedPage } from './pages-read.js'
import type { PageText } from './recognise.js'
import { type Line, meanConfidence } from './words.js'

/** What a change of which makes pages that were read before worth reading again. */
export const OCR_ENGINE = 'tesseract-7.0.0/1'

const POINTS_PER_INCH = 72
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
  return {
    page,
    lines,
    confidence: meanConfidence(kept.flatMap(({ words }) => words)),
    size: [tenths(text.width * scale), tenths(text.height * scale)],
    ...(text.rotation === 0 ? {} : { rotation: text.rotation }),
  }
}

/**
 * Of a picture that need not be of text: a line that is less sure is left out. All of it is where words of three letters and
 * more that are sure have too few letters, or too small a share of them; the whole being sure speaks for itself. In per cent.
 */
const SEMBLANCE = { line: 40, whole: 80, word: 60, letters: 10, share: 0.25 }

/** A page without what only seems to be text, as branches and bricks do. */
export function withoutSemblance(page: RecognisedPage): RecognisedPage {
  const lines = page.lines.filter(([, , , , , sure]) => meanOf(sure) >= SEMBLANCE.line)
  if (page.confidence >= SEMBLANCE.whole) return { ...page, lines }
  let all = 0
  let inWords = 0
  for (const [, , , , text, sure] of page.lines) {
    const words = text.split(' ')
    for (const [at, word] of words.entries()) {
      const letters = word.match(/[\p{L}\p{N}]/gu)?.length ?? 0
      all += letters
      // without spaces between its words a line is as sure as it is in the mean
      const confidence = words.length === sure.length ? (sure[at] ?? 0) : meanOf(sure)
      if (letters >= 3 && confidence >= SEMBLANCE.word) inWords += letters
    }
  }
  const isText = inWords >= SEMBLANCE.letters && inWords >= all * SEMBLANCE.share
  return isText ? { ...page, lines } : { ...page, lines: [], confidence: 0 }
}

function meanOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0) / Math.max(1, numbers.length)
}

/** As lines of a page, in the order in which they were read. */
export function linesOfPage({ lines }: RecognisedPage): PdfLine[] {
  return lines.map(([left, right, y, size, text, confidences]) => ({
    text,
    left,
    right,
    y,
    size,
    turned: false,
    confidences,
  }))
}

/** Pages as they are stored. What is not one, of a damaged store, is left out and read anew. */
export function parsePages(stored: unknown): RecognisedPage[] {
  return Array.isArray(stored) ? stored.filter(isPage) : []
}

/** One page as it is stored. @returns nothing for what is none */
export function parsePage(stored: unknown): RecognisedPage | undefined {
  return isPage(stored) ? stored : undefined
}

function isPage(value: unknown): value is RecognisedPage {
  return (
    isRecord(value) &&
    typeof value.page === 'number' &&
    typeof value.confidence === 'number' &&
    Array.isArray(value.lines) &&
    value.lines.every((line) => Array.isArray(line) && typeof line[4] === 'string' && Array.isArray(line[5]))
  )
}

function isText({ words }: Line): boolean {
  return meanConfidence(words) >= NOISE && words.some(({ text }) => /[\p{L}\p{N}]/u.test(text))
}

/** Chinese and Japanese have no spaces between words. */
function joined({ words }: Line): string {
  let text = ''
  for (const word of words) text += isWide(text.at(-1)) && isWide(word.text[0]) ? word.text : ` ${word.text}`
  return text.trimStart()
}

function isWide(letter: string | undefined): boolean {
  return letter !== undefined && /[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]/.test(letter)
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

function tenths(value: number): number {
  return Math.round(value * 10) / 10
}
