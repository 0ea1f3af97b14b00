import { isRecord } from '../../../lib/json/values.js'
import type { PdfLine } from '../pdf/pdf-lines.js'
import type { RecognisedPage } from './pages-read.js'

/** What a change of which makes pages that were read before worth reading again. */
export const OCR_ENGINE = 'tesseract-7.0.0/2'

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
    value.lines.every((line) => Array.isArray(line) && typeof line[4] === 'string' && Array.isArray(line[5])) &&
    (value.ruled === undefined || isRuled(value.ruled))
  )
}

function isRuled(value: unknown): boolean {
  return isRecord(value) && Array.isArray(value.level) && Array.isArray(value.upright) && typeof value.tilt === 'number'
}
